/** Notices whoever reads a property that data does not have: a getter that everything inherits, under a name that the fuzz writes. */
import { CANARY } from './hostile.ts';

const PROTOTYPES = [
  Object.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Function.prototype,
  Array.prototype,
];

/** Runs `work` and says whether anything inherited was read, or anything was added to what all inherit. */
export function watchInherited<T>(work: () => T): { result: T; finding: string | undefined } {
  let reads = 0;
  const before = Reflect.ownKeys(Object.prototype).length;
  for (const prototype of PROTOTYPES) {
    const get = (): undefined => {
      reads += 1;
      return undefined;
    };
    Object.defineProperty(prototype, CANARY, { configurable: true, get, set: get });
  }
  try {
    const result = work();
    const added = Reflect.ownKeys(Object.prototype).length - before - 1;
    const finding =
      reads > 0 ? `an inherited property was read ${reads} times` : added === 0 ? undefined : 'a prototype was changed';
    return { result, finding };
  } finally {
    for (const prototype of PROTOTYPES) Reflect.deleteProperty(prototype, CANARY);
  }
}
