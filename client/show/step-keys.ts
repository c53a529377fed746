/**
 * What a step's key says about its place. `steps` opens a loop (the run's own, or an inner one) and
 * takes the next pass; `then`, `else`, `always` and `branches` open a block inside a step. So the key
 * alone tells where a step stands among all others: pass of the run, index, attempt, block, pass of
 * an inner loop, index, … What a run always does stands behind all its passes.
 */
import { turnPart } from '../../language/models/turn-keys.ts';
import { withoutMark } from '../../language/events/nested-runs.ts';

const BLOCKS: ReadonlySet<string> = new Set(['steps', 'then', 'else', 'always', 'branches']);

/** How many steps a step stands inside of. */
export function depthOf(key: string): number {
  const blocks = pathOf(key)
    .split('.')
    .filter((word) => BLOCKS.has(word)).length;
  return Math.max(0, blocks - 1) + (turnPart(key) === '' ? 0 : 1);
}

/** The place as numbers; comparing them one by one is the order of the definition. */
export function placeOf(key: string): number[] {
  const plain = withoutMark(key);
  const [own = '', ...turnAndCall] = plain.slice(pathOf(plain).length + 1).split('/');
  const passes = own.split('.').map(Number);
  const place: number[] = [];
  let loop = 0;
  for (const [at, word] of pathOf(key).split('.').entries()) {
    if (word === 'steps') place.push(passes[loop++] ?? 0);
    else if (word === 'then' || word === 'else') place.push(0);
    else if (word === 'always') place.push(at === 0 ? Number.MAX_SAFE_INTEGER : 1);
    else if (word !== 'branches') place.push(...indexAndAttempt(word));
  }
  // Calls of a model stand in the order of their turns, and each try of one behind what was asked about the one before.
  const numbered = turnAndCall.filter((word) => word.includes('.'));
  return [...place, ...numbered.flatMap((word) => indexAndAttempt(word.slice(word.indexOf('.') + 1)))];
}

/** Behind every index that a list of steps can have. */
const indexMax = 1_000_000;

/** `2` is the first attempt of step 2, `2#3` its third; `2~1` began after the first edit, and so behind all that began before. */
function indexAndAttempt(word: string): [number, number] {
  const [place = '', attempt = '1'] = word.split('#');
  const [index = 0, revision = 0] = place.split('~').map(Number);
  return [index + revision * indexMax, Number(attempt)];
}

export function comparePlaces(left: readonly number[], right: readonly number[]): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Whether a step is the other one, or inside it. */
export function isWithin(key: string, around: string): boolean {
  const outer = placeOf(around);
  return comparePlaces(placeOf(key).slice(0, outer.length), outer) === 0;
}

/** Steps by their places, for `outermostAround`. */
export const byPlace = (keys: readonly string[]): ReadonlyMap<string, string> =>
  new Map(keys.map((key) => [placeOf(key).join('.'), key]));

/** The outermost of them that a step is, or is inside of: of very many without a look at each. */
export function outermostAround(key: string, steps: ReadonlyMap<string, string>): string | undefined {
  const place = placeOf(key);
  for (let length = 1; length <= place.length; length += 1) {
    const found = steps.get(place.slice(0, length).join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

function pathOf(key: string): string {
  const at = key.lastIndexOf('@');
  return at === -1 ? key : key.slice(0, at);
}
