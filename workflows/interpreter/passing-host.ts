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

  keepsAttempts(): boolean {
    return true;
  }

  digest(): Promise<null> {
    return Promise.resolve(null);
  }

  ask(): Promise<AskEnd> {
    return Promise.resolve('yield');
  }

  nextEvent(): Promise<'yield'> {
    return Promise.resolve('yield');
  }

  fork(strand: Strand, walk: () => Promise<Flow>): { flow: Promise<Flow>; cancel: () => void } {
    const cancel = (): void => {
      strand.cancelled = true;
    };
    return { flow: walk(), cancel };
  }

  /** Nothing is handed over meanwhile. */
  suspended(): void {}
}
