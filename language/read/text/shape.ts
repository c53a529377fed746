/**
 * The first look at a definition: depth, number of values, number of steps, and that it is JSON at
 * all. Iterative, so that everything behind it may recurse: what passes is at most `nestingDepthMax`
 * deep.
 */
import { nestingDepthMax, stepsMax, valuesMax } from '../../limits.ts';
import { wordsOf } from '../../plain-json.ts';
import type { Problem } from '../../problems.ts';

const STEP_LISTS: ReadonlySet<string> = new Set(['steps', 'then', 'else', 'branches']);

interface Pending {
  value: unknown;
  path: string;
  depth: number;
}

export function checkShape(root: unknown): Problem | undefined {
  const pending: Pending[] = [{ value: root, path: '', depth: 0 }];
  let values = 0;
  let steps = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path, depth } = next;
    if (!isJsonLike(value))
      return problem('WRONG_TYPE', path, `${wordsOf(value)?.[0] ?? 'undefined'} is not a value that JSON can hold`);
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= nestingDepthMax) {
      return problem(
        'TOO_DEEP',
        path,
        `the definition is nested deeper than ${nestingDepthMax} levels; move the inner steps into a definition of their own and refer to it by "$ref"`,
      );
    }
    const entries = Object.entries(value);
    values += entries.length;
    steps += Array.isArray(value) && STEP_LISTS.has(path.slice(path.lastIndexOf('.') + 1)) ? value.length : 0;
    if (steps > stepsMax)
      return problem(
        'TOO_MANY_STEPS',
        path,
        `there are more than ${stepsMax} steps; repeat them in a loop or split the definition`,
      );
    if (values > valuesMax)
      return problem(
        'TOO_LARGE',
        path,
        `the definition holds more than ${valuesMax} values; keep data in files or in the store`,
      );
    for (const [key, item] of entries.toReversed()) {
      pending.push({ value: item, path: path === '' ? key : `${path}.${key}`, depth: depth + 1 });
    }
  }
  return undefined;
}

const isJsonLike = (value: unknown): boolean => value !== undefined && wordsOf(value) === null;

function problem(code: Problem['code'], path: string, message: string): Problem {
  return { code, severity: 'error', path, message };
}
