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

/** Drives several walks side by side, with one promise for each wait; ends when all of them have. */
export function driveAll(walks: readonly Walking<void>[], suspended: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let open = walks.length;
    const take = (walk: Walking<void>, next: () => IteratorResult<Promise<unknown>, void>): void => {
      try {
        const turn = next();
        if (turn.done === true) open -= 1;
        else
          turn.value.then(
            (value) => goOn(walk, () => walk.next(value)),
            (error: unknown) => goOn(walk, () => walk.throw(error)),
          );
      } catch (error) {
        reject(error);
      }
    };
    const rest = (): void => {
      try {
        suspended();
        if (open === 0) resolve();
      } catch (error) {
        reject(error);
      }
    };
    const goOn = (walk: Walking<void>, next: () => IteratorResult<Promise<unknown>, void>): void => {
      take(walk, next);
      rest();
    };
    for (const walk of walks) take(walk, () => walk.next());
    rest();
  });
}
