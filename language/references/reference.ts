/**
 * One reference inside text: `$name`, `$name.path[0]`, `$name.method('a', 'b')` or `{{…}}` with a path
 * or an expression in it. Used by templates and by shell lines, so that both read a reference alike.
 *
 * The longest path that resolves wins. What follows a text, a number or a boolean that has no such
 * field is not part of the reference (`$topic.md`, `$query.`); a field that an object or an array
 * lacks makes the reference unresolved, because a whole object is never what was meant there.
 */
import { isJsonObject, type Json } from '../json.ts';
import { Halt, type Budget } from '../expression/budget.ts';
import { keysOfPath } from '../expression/braces.ts';
import { tryEvaluate } from '../expression/evaluate.ts';
import type { Node } from '../expression/expression.ts';
import { readable } from '../expression/json-text.ts';
import { ofShellResult } from '../expression/shell-result.ts';
import { bracesAt, endOfParts, match, NAME, readPart, VALUE_SO_FAR, type Part } from './reference-syntax.ts';
import { property, textValue, type Fault, type ScopeReader } from '../expression/scope.ts';
import { defined } from '../defined.ts';

export interface Reference {
  /** First index after the reference. */
  end: number;
  written: string;
  /** `undefined` when nothing of that name is set. */
  value: Json | undefined;
  /** The value as text: a command's result, used whole, stands for its text field. */
  text: string;
  fault?: Fault;
  /** Names without a value of which an operator or a call in it made something else. */
  lost?: readonly string[];
}

/** What has no value in it: the reference itself, or names under an operator or a call in it. */
export const unresolvedIn = ({ value, written, lost = [] }: Reference): readonly string[] =>
  value === undefined ? [written] : lost;

/** What stands before the number or the label of a step (`steps.0`, `named.build`). */
const RESULT_ROOTS: ReadonlySet<string> = new Set(['steps', 'loop', 'named']);

/** The reference that begins at `at`, or undefined when what stands there is plain text. */
export function readReference(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  if (text.charAt(at) === '$') return readDollar(text, at, scope, budget);
  return text.startsWith('{{', at) ? readBraces(text, at, scope, budget) : undefined;
}

function readBraces(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  const braces = bracesAt(text, at);
  if (braces === undefined) return undefined;
  const { end, root } = braces;
  const written = text.slice(at, end);
  const result = tryEvaluate({ text: written, root }, scope, budget);
  if (!result.ok)
    return {
      end,
      written,
      value: undefined,
      text: '',
      fault: { code: result.code, message: `${written}: ${result.message}` },
    };
  const { lost } = result;
  return {
    end,
    written,
    value: result.value,
    ...defined({ lost }),
    ...textIn(bracesText(root, result.value, scope), written, budget),
  };
}

/** A value that has no text cannot be used at all: nothing that takes it could write it down. */
function textIn(
  value: Json | undefined,
  written: string,
  budget: Budget,
): { text: string; value?: undefined; fault?: Fault } {
  try {
    return { text: budget.written(value) };
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    return { text: '', value: undefined, fault: { ...error.fault, message: `${written}: ${error.fault.message}` } };
  }
}

/** The result of a step, used whole, stands for its output. */
function bracesText(root: Node, value: Json | undefined, scope: ScopeReader): Json | undefined {
  const [only] = root.type === 'path' && root.pieces.length === 1 ? root.pieces : [];
  const [name = '', ...path] = typeof only === 'string' ? (keysOfPath(only) ?? []) : [];
  if (path.length === 1 && RESULT_ROOTS.has(name) && isJsonObject(value)) return value['output'] ?? value;
  return name !== '' && path.length === 0 ? textValue(scope, name, value) : value;
}

function readDollar(text: string, at: number, scope: ScopeReader, budget: Budget): Reference | undefined {
  const name = match(NAME, text, at + 1)?.[0];
  if (name === undefined) return undefined;
  const nameEnd = at + 1 + name.length;
  let value = scope.get(name);
  let end = nameEnd;
  const missed: string[] = [];
  const done = (last: number, reached: Json | undefined, fault?: Fault): Reference => {
    const written = text.slice(at, last);
    const texts = textIn(last === nameEnd ? textValue(scope, name, reached) : reached, written, budget);
    return {
      end: last,
      written,
      value: reached,
      ...(missed.length === 0 ? {} : { lost: missed }),
      ...texts,
      ...defined({ fault }),
    };
  };
  for (let part = readPart(text, end); part !== undefined; part = readPart(text, part.end)) {
    const kept = end === nameEnd ? fieldOfStep(name, part, scope) : undefined;
    const { from, value: next, fault, lost = [] } = follow(value, part, kept, scope, budget);
    missed.push(...lost);
    if (fault !== undefined) return done(part.end, undefined, fault);
    if (next === undefined && value === undefined) return done(endOfParts(text, end), undefined);
    if (next === undefined && isScalar(from) && part.type !== 'call') return done(end, value);
    value = next;
    end = part.end;
  }
  return done(end, value);
}

/** A field that a variable lacks may be one of the step with this label. */
function fieldOfStep(name: string, part: Part, scope: ScopeReader): Json | undefined {
  return part.type === 'field' ? scope.stepField?.(name, part.key) : undefined;
}

function isScalar(value: Json | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

interface Followed {
  /** What the part was read of. */
  from: Json | undefined;
  value: Json | undefined;
  fault?: Fault;
  lost?: readonly string[];
}

/** `kept`: what the result of a step has where the value lacks the part. */
function follow(
  value: Json | undefined,
  part: Part,
  kept: Json | undefined,
  scope: ScopeReader,
  budget: Budget,
): Followed {
  if (value === undefined) return { from: value, value: kept };
  if (part.type === 'call') return { from: value, ...call(value, part.source, scope, budget) };
  try {
    const from = readable(value, part.key, false, budget);
    // An index reads an element; the characters of a text are left alone, for prose such as `$name[1]`.
    const own = part.type === 'index' && typeof from === 'string' ? undefined : property(from, part.key);
    const beside = kept === undefined ? () => ofShellResult(from, part.key, budget) : () => kept;
    return { from, value: own === undefined ? beside() : own };
  } catch (error) {
    if (!(error instanceof Halt)) throw error;
    return {
      from: value,
      value: undefined,
      fault: { ...error.fault, message: `.${part.key}: ${error.fault.message}` },
    };
  }
}

function call(value: Json, source: string, scope: ScopeReader, budget: Budget): Omit<Followed, 'from'> {
  const inner: ScopeReader = {
    // Arguments read what `$` reads.
    ...scope,
    get: (name) => (name === VALUE_SO_FAR ? value : scope.get(name)),
    has: (name) => name === VALUE_SO_FAR || scope.has(name),
  };
  const result = tryEvaluate(source, inner, budget);
  if (result.ok) return { value: result.value, ...defined({ lost: result.lost }) };
  return { value: undefined, fault: { code: result.code, message: `${source.slice(1)}: ${result.message}` } };
}
