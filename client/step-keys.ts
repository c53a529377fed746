/**
 * What a step's key says about its place. `steps` opens a loop (the run's own, or an inner one) and
 * takes the next pass; `then`, `else` and `branches` open a block inside a step. So the key alone
 * tells where a step stands among all others: pass of the run, index, pass of an inner loop, index, …
 */
const BLOCKS: ReadonlySet<string> = new Set(['steps', 'then', 'else', 'branches']);

/** How many steps a step stands inside of. */
export function depthOf(key: string): number {
  const blocks = pathOf(key).split('.').filter((word) => BLOCKS.has(word)).length;
  return Math.max(0, blocks - 1);
}

/** The place as numbers; comparing them one by one is the order of the definition. */
export function placeOf(key: string): number[] {
  const passes = key.slice(pathOf(key).length + 1).split('.').map(Number);
  const place: number[] = [];
  let loop = 0;
  for (const word of pathOf(key).split('.')) {
    if (word === 'steps') place.push(passes[loop++] ?? 0);
    else if (/^\d+$/.test(word)) place.push(Number(word));
  }
  return place;
}

export function comparePlaces(left: readonly number[], right: readonly number[]): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function pathOf(key: string): string {
  const at = key.lastIndexOf('@');
  return at === -1 ? key : key.slice(0, at);
}
