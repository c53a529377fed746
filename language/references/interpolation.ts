/**
 * Templates: references inside the texts of a value are replaced by what they stand for.
 *
 * - A text that is nothing but one reference becomes the value itself; otherwise values become text.
 * - A text that is JSON is read first and its references are resolved inside, so that quotes and
 *   newlines of the data survive. In an object they may stand without quotes where a value stands.
 * - Keys are never touched (`$ref`, `$gte`), data is never read as a template again, and `\$name`
 *   is the way to write a `$name` that is meant literally.
 */
import type { Json } from '../json.ts';
import { interpolationLengthMax, nestingDepthMax } from '../limits.ts';
import { Budget } from '../expression/budget.ts';
import { readJson } from '../expression/json-text.ts';
import { readReference, unresolvedIn, type Reference } from './reference.ts';
import { nextReference } from './reference-syntax.ts';
import type { Fault, ScopeReader } from '../expression/scope.ts';

export interface InterpolatedValue {
  value: Json;
  /** References as written that nothing answers to; they became null or empty text. */
  unresolved: string[];
  /** Not empty: the step must fail with the first of them. */
  faults: Fault[];
}

export interface InterpolatedText {
  text: string;
  unresolved: string[];
  faults: Fault[];
}

interface Work {
  readonly scope: ScopeReader;
  readonly budget: Budget;
  readonly unresolved: Set<string>;
  readonly faults: Fault[];
  /** Characters that may still be produced. */
  left: number;
}

export function interpolateValue(value: Json, scope: ScopeReader): InterpolatedValue {
  const work = begin(scope);
  const result = renderValue(value, work, 0, true);
  return { value: result, unresolved: [...work.unresolved], faults: work.faults };
}

export function interpolateText(text: string, scope: ScopeReader): InterpolatedText {
  const work = begin(scope);
  const result = renderText(text, work);
  return { text: result, unresolved: [...work.unresolved], faults: work.faults };
}

function begin(scope: ScopeReader): Work {
  return { scope, budget: new Budget(), unresolved: new Set(), faults: [], left: interpolationLengthMax };
}

function renderValue(value: Json, work: Work, depth: number, mayBeJson: boolean): Json {
  if (typeof value === 'string') return renderString(value, work, depth, mayBeJson);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > nestingDepthMax) {
    work.faults.push({
      code: 'VALUE_TOO_LARGE',
      message: `a template is nested deeper than ${nestingDepthMax} levels`,
    });
    return null;
  }
  if (Array.isArray(value)) return value.map((item) => renderValue(item, work, depth + 1, mayBeJson));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renderValue(item, work, depth + 1, mayBeJson)]),
  );
}

function renderString(text: string, work: Work, depth: number, mayBeJson: boolean): Json {
  if (nextReference(text, 0) === -1) return text;
  const whole = readReference(text, 0, work.scope, work.budget);
  if (whole !== undefined && whole.end === text.length) {
    note(whole, work);
    return whole.value ?? null;
  }
  const parsed = mayBeJson ? (parseJsonText(text) ?? parseJsonText(withQuotes(text, work))) : undefined;
  return parsed === undefined ? renderText(text, work) : renderValue(parsed, work, depth, false);
}

/** An object or an array written as text; anything else stays the text it is. */
function parseJsonText(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return undefined;
  return readJson(text);
}

/** An object, or a list that begins with one: only there can a bare reference mean nothing but a value. */
const OBJECT_TEXT = /^\s*\[?\s*\{\s*"/;

/** The text with its bare references (`{"n": $count}`) in quotes, as if the author had written them so. */
function withQuotes(text: string, { scope, budget }: Work): string {
  if (!OBJECT_TEXT.test(text)) return '';
  const out: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') isQuoted = !isQuoted;
    if (isQuoted) {
      if (char === '\\') at += 1;
      continue;
    }
    const reference = char === '$' || char === '{' ? readReference(text, at, scope, budget) : undefined;
    if (reference === undefined) continue;
    out.push(text.slice(from, at), JSON.stringify(text.slice(at, reference.end)));
    from = reference.end;
    at = from - 1;
  }
  return [...out, text.slice(from)].join('');
}

function renderText(text: string, work: Work): string {
  const out: string[] = [];
  let from = 0;
  for (let at = nextReference(text, 0); at !== -1; at = nextReference(text, Math.max(at + 1, from))) {
    const reference = readReference(text, at, work.scope, work.budget);
    if (reference === undefined) continue;
    if (at > from && text.charAt(at - 1) === '\\') {
      out.push(text.slice(from, at - 1));
      from = at;
      continue;
    }
    note(reference, work);
    out.push(text.slice(from, at), produced(shown(reference, work), work));
    from = reference.end;
  }
  out.push(text.slice(from));
  return out.join('');
}

const shown = ({ value, text }: Reference, { scope }: Work): string =>
  (value === undefined ? undefined : scope.shownAs?.(value)) ?? text;

function note(reference: Reference, work: Work): void {
  if (reference.fault !== undefined) work.faults.push(reference.fault);
  else for (const name of unresolvedIn(reference)) work.unresolved.add(name);
}

function produced(text: string, work: Work): string {
  const before = work.left;
  work.left -= text.length;
  if (work.left >= 0) return text;
  if (before >= 0) {
    work.faults.push({
      code: 'VALUE_TOO_LARGE',
      message: `the template grows beyond ${interpolationLengthMax} characters; pass the value whole or name a field of it`,
    });
  }
  return '';
}
