/** An issue of the schema in words of our own: the place, what was found there, what is wanted, and what to write. */
import type * as z from 'zod';
import type { Catalogue } from '../../catalogue.ts';
import type { Problem } from '../../problems.ts';
import { isPlain, lastKey, type Plain } from '../draft/draft.ts';
import { nearestFix } from './meant-word.ts';
import type { Remedy } from './text-for-step.ts';
import { remedyForValue } from './value-remedy.ts';
import { defined } from '../../defined.ts';

/** What has the wrong type has no size that could be wrong too. */
export function withoutConsequences(given: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const issues = given.flatMap(meantForm);
  if (!issues.some(isRange)) return issues;
  const wrong = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  return issues.filter((issue) => !isRange(issue) || !wrong.has(issue.path.join('.')));
}

const isOtherKind = ({ path, code }: z.core.$ZodIssue): boolean => path.length === 0 && code === 'invalid_type';

/** Where only one of several forms is of the value's kind, what is wrong is wrong in that one. */
function meantForm(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const forms = issue.errors.filter((form) => form.length > 0 && !form.some(isOtherKind));
  const [meant, ...others] = forms;
  if (meant === undefined || others.length > 0) return [issue];
  return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

type Range = z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig;

function isRange(issue: z.core.$ZodIssue): issue is Range {
  return issue.code === 'too_small' || issue.code === 'too_big';
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Plain)[String(key)] : undefined),
    value,
  );
}

type Described = Pick<Problem, 'code' | 'message' | 'fix'>;

/** A key is called what the author called it; one that is missing, what it is called here. */
export function describe(issue: z.core.$ZodIssue, root: unknown, at: string, catalogue: Catalogue): Described {
  const value = valueAt(root, issue.path);
  const key = issue.path.at(-1);
  const own = typeof key === 'number' ? lastTwo(at) : lastKey(at, String(key));
  const name = key === undefined ? 'the definition' : `"${value === undefined ? String(key) : own}"`;
  if (value === undefined && issue.code !== 'unrecognized_keys')
    return {
      code: 'MISSING_KEY',
      message: `${name} is missing; ${wanted(issue)} is needed${elsewise(at, String(key), valueAt(root, issue.path.slice(0, -1)))}`,
    };
  const remedy = (): Remedy => remedyForValue(issue.path.map(String), value, catalogue);
  const options = optionsOf(issue);
  if (options !== undefined) return wrongValue(name, remedy, value, options);
  if (isRange(issue)) return { code: 'OUT_OF_RANGE', message: outOfRange(name, issue) };
  return wrongType(`${name} is ${kindOf(value)}; ${wanted(issue)} is needed`, remedy());
}

/** `rules.71`, of a member of a list. */
const lastTwo = (path: string): string => path.slice(path.lastIndexOf('.', path.lastIndexOf('.') - 1) + 1);

/** What may be written in place of a key that is missing. */
function elsewise(at: string, key: string, holder: unknown): string {
  if (!isPlain(holder)) return '';
  if (key === 'definition') return ', or the name of a definition';
  const named =
    holder['type'] === undefined ? [holder['id'], holder['name']].find((name) => typeof name === 'string') : undefined;
  return key === 'steps' && at !== key && named !== undefined
    ? `, or {"$ref": ${JSON.stringify(named)}} for a definition of that name`
    : '';
}

function wrongType(found: string, { words, fix }: Remedy): Described {
  return {
    code: 'WRONG_TYPE',
    message: words === '' ? found : `${found}${words}`,
    ...defined({ fix }),
  };
}

function outOfRange(name: string, issue: Range): string {
  const isText = issue.origin === 'string';
  if (isText && issue.code === 'too_small') return `${name} is empty; write at least one character`;
  if (issue.code === 'too_big')
    return `${name} is too ${isText ? 'long' : 'large'}; at most ${issue.maximum}${isText ? ' characters are' : ' is'} allowed`;
  return `${name} is too small; a number ${issue.inclusive === false ? 'greater than' : 'of at least'} ${issue.minimum} is needed`;
}

/** The values that are allowed, where the schema lists them. */
function optionsOf(issue: z.core.$ZodIssue): string[] | undefined {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  const options = issue.code === 'invalid_union' ? (issue as { options?: unknown }).options : undefined;
  return Array.isArray(options) ? options.map(String) : undefined;
}

function wrongValue(name: string, remedy: () => Remedy, value: unknown, values: string[]): Described {
  const fix = typeof value === 'string' ? nearestFix(value, values) : {};
  if (typeof value === 'object')
    return wrongType(`${name} is ${kindOf(value)}; one of ${values.join(', ')} is needed`, remedy());
  return {
    code: 'WRONG_VALUE',
    message: `${name} is ${JSON.stringify(value)}; there are ${values.join(', ')}`,
    ...fix,
  };
}

function wanted(issue: z.core.$ZodIssue): string {
  const options = optionsOf(issue);
  if (options !== undefined) return `one of ${options.join(', ')}`;
  if (issue.code === 'invalid_type') return issue.expected === 'int' ? 'a whole number' : article(issue.expected);
  const kinds =
    issue.code === 'invalid_union' ? withoutConsequences(issue.errors.flat()).map((inner) => wanted(inner)) : [];
  if (kinds.length === 0) return 'another value';
  return ANY_KIND.every((kind) => kinds.includes(kind)) ? 'a value' : [...new Set(kinds)].join(' or ');
}

/** Where a value of any kind will do. */
const ANY_KIND = ['a null', 'a boolean', 'a number', 'a string'];

function article(kind: string): string {
  if (kind === 'record') return 'an object';
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return article(typeof value);
}

/**
 * Where the schema takes a word or an object, what is wrong with the one that was written: a word is held against the
 * words, and an object against the object. The issue itself where the value could have been meant for several members,
 * or for none.
 */
export function narrowed(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.filter((issues) =>
    isPlain(value)
      ? issues.every((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys')
      : typeof value === 'string' && issues.every((inner) => inner.code === 'invalid_value' && inner.path.length === 0),
  );
  const [only, ...others] = meant;
  if (only === undefined || others.length > 0) return [issue];
  return only.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}
