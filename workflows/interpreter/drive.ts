/**
 * The walk is made of generators, not of async functions: it yields a promise only where it really
 * waits, and `drive` waits for it. Every promise in workflow code costs the worker a stack trace, so
 * a step should make as few as possible; here it makes those of its effect and one more.
 */

/** A walk that ends with `Result`; what it yields are promises to wait for. */
export type Walking<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Waits inside a walk: `const reply = yield* wait(host.perform(…))`. */
export function* wait<Value>(pending: Promise<Value>): Walking<Value> {
  return (yield pending) as Value;
}

/** Runs a walk to its end; `suspended` is called whenever it waits, and when it ends. */
export async function drive<Result>(walking: Walking<Result>, suspended: () => void): Promise<Result> {
  let turn = walking.next();
  while (turn.done !== true) {
    suspended();
    let value: unknown;
    try {
      value = await turn.value;
    } catch (error) {
      turn = walking.throw(error);
      continue;
    }
    turn = walking.next(value);
  }
  suspended();
  return turn.value;
}
