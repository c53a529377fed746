/**
 * A step or loop that the schema refused, made into one that the other checks can look at: a misspelt
 * key stands under the name it is near to, an unknown one is dropped, and what has no value that could
 * be meant gets one that no check speaks of. So one problem of a step does not hide the others, and
 * none of the others is a consequence of the first. What is mended is never run: there are errors.
 */
import type * as z from 'zod';
import { isObject, type Origins, type Plain } from '../draft/draft.ts';

/** A key that is none, and the one it is near to. */
export interface Misspelt {
  key: string;
  /** Where the object stands that holds it. */
  at: readonly PropertyKey[];
  meant: string | undefined;
}

export interface Refused {
  issues: readonly z.core.$ZodIssue[];
  misspelt: readonly Misspelt[];
}

/** Keys whose values are as the author wrote them: nothing would have rewritten them under the right name. */
export const AS_WRITTEN: ReadonlySet<string> = new Set([
  'name',
  'outputTo',
  'command',
  'params',
  'args',
  'cwd',
  'env',
  'stdin',
  'prompt',
  'system',
  'model',
  'executionId',
  'event',
  'data',
  'check',
  'message',
  'show',
  'inputs',
  'as',
  'over',
]);

/** What stands in for a value that cannot be used: a limit that bounds, and that no check finds too high or too low. */
const STAND_INS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['check', 'true'],
  ['event', 'event'],
  ['prompt', 'prompt'],
  ['system', 'system'],
  ['message', 'message'],
  ['executionId', 'process'],
  ['classification', 'line'],
  ['over', '[]'],
  ['max', 1],
  ['maxIterations', 1],
  ['timeoutMs', 1],
  ['durationMs', 1],
  ['attempts', 1],
  ['then', []],
  ['else', []],
  ['always', []],
  ['steps', []],
  ['branches', [[]]],
  ['params', {}],
]);

/** What of a value has been copied: once each, however many of a list's items are wrong. */
interface Copies {
  origins: Origins;
  made: Set<object>;
}

/** A step, or the loop of a definition; the other keys of a definition are looked at as they are. */
export function mend(value: Plain, path: string, { issues, misspelt }: Refused, origins: Origins): void {
  const copies: Copies = { origins, made: new Set() };
  for (const each of misspelt) mendKey(value, path, each, copies);
  for (const issue of issues) {
    const holder = holderOf(value, path, issue.path.slice(0, -1), copies);
    const key = issue.path.at(-1);
    if (holder !== undefined && key !== undefined) put(holder, String(key), standIn(issue.path, value));
  }
}

function mendKey(value: Plain, path: string, { key, at, meant }: Misspelt, copies: Copies): void {
  const holder = holderOf(value, path, at, copies);
  if (holder === undefined) return;
  const own = holder[key];
  delete holder[key];
  if (meant === undefined || Object.hasOwn(holder, meant)) return;
  if (!AS_WRITTEN.has(meant)) return put(holder, meant, standIn([...at, meant], value));
  copies.origins.move(holder, key, meant);
  holder[meant] = own;
}

function put(holder: Plain, key: string, instead: unknown): void {
  if (instead !== undefined) holder[key] = instead;
  else if (!Array.isArray(holder)) delete holder[key];
}

function standIn(path: readonly PropertyKey[], { type }: Plain): unknown {
  const key = path.at(-1);
  if (type === undefined && path[0] !== 'loop') return limitOf(path);
  if (typeof key === 'number')
    return path.at(-2) === 'rules'
      ? { pattern: patternOf(key), classification: 'line' }
      : path.at(-2) === 'branches'
        ? []
        : path.at(-2) === 'tools'
          ? 'code/read'
          : 'item';
  if (key === 'command') return type === 'command' ? 'code/read' : 'true';
  if (key === 'until') return type === 'sleep' ? '2000-01-01T00:00:00Z' : undefined;
  if (key === 'pattern') return patternOf(path.at(-2));
  return STAND_INS.get(String(key));
}

/** A limit of a definition, which is no number that another could be compared with, and a limit all the same. */
function limitOf([head, ...rest]: readonly PropertyKey[]): unknown {
  if (head === 'safety' && rest.length === 0) return { timeoutMs: Number.NaN };
  const key = rest[0] ?? head;
  return key === 'timeoutMs' || key === 'maxIterations' ? Number.NaN : undefined;
}

/** No two rules are alike, or the later would be without use. */
const patternOf = (index: PropertyKey | undefined): string => `line ${String(index)}`;

/** The object at a path of the value, by then a copy of ours: what the author handed over is left as it is. */
function holderOf(
  value: Plain,
  path: string,
  keys: readonly PropertyKey[],
  { origins, made }: Copies,
): Plain | undefined {
  let at: Plain = value;
  let place = path;
  for (const key of keys) {
    const inner = at[String(key)];
    if (!isObject(inner)) return undefined;
    place = origins.child(at, place, String(key));
    if (!made.has(inner)) {
      const copy = Array.isArray(inner) ? [...(inner as unknown[])] : { ...inner };
      origins.copy(inner, copy, place);
      made.add(copy);
      at[String(key)] = copy;
    }
    at = at[String(key)] as Plain;
  }
  return at;
}

/** Adds whatever in a dropped value may have been meant as the name of a variable. */
export function addNamesIn(value: unknown, names: string[]): void {
  if (typeof value === 'string' && /^\w{1,200}$/.test(value)) names.push(value);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    names.push(key);
    addNamesIn(item, names);
  }
}
