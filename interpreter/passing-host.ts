/** A host that waits for nothing: whatever would have to be waited for goes back to the host that can. */
import type { AskEnd, Flow, Gate, Strand } from './host.ts';

export class PassingHost {
  hold(): Promise<Gate> {
    return Promise.resolve('yield');
  }

  rest(): Promise<Gate> {
    return Promise.resolve('yield');
  }

  /** It is done sooner than any time it could be held to. */
  bound(_strand: Strand, _leftMs: () => number, walk: () => Promise<Flow>): Promise<Flow> {
    return walk();
  }

  isLate(): Promise<boolean> {
    return Promise.resolve(false);
  }

  digest(): Promise<null> {
    return Promise.resolve(null);
  }

  readDefinition(): never {
    throw new Error('bug: a nested run begins where nothing can be waited for');
  }

  ask(): Promise<AskEnd> {
    return Promise.resolve('yield');
  }

  nextEvent(): Promise<'yield'> {
    return Promise.resolve('yield');
  }

  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void } {
    return { ended: walk(), cancel: () => undefined };
  }

  /** Nothing is handed over meanwhile. */
  suspended(): void {}
}
