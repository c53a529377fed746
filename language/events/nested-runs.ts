/**
 * Which runs a nested step started, by their handles. A handle is that of the run around it, a `/`, and
 * the key of the step. Where a step starts several, the others bear a mark behind the key: `#2.0` is the
 * second attempt, `#1.3` began after limits of the run around it were extended three times, with which
 * the step begins anew. A key ends in its passes, so nothing in it is taken for a mark.
 */
import type { RunEvent } from './run-event.ts';

const MARK = /#(\d+)\.(\d+)$/;

/** The handle, or what leads to it, as it is without a mark. */
export const withoutMark = (handle: string): string => handle.replace(MARK, '');

/** The handle of the run that no other is around. */
export const outermost = (handle: string): string => handle.split('/')[0] ?? handle;

interface Named {
  name: string;
  attempt: number;
  granted: number;
}

export class NestedRuns {
  readonly #byStep = new Map<string, Named[]>();

  /** Handles, or what they add to the handle of a run around them. */
  constructor(names: Iterable<string>) {
    for (const name of new Set(names)) {
      const [, attempt = 1, granted = 0] = MARK.exec(name) ?? [];
      const step = withoutMark(name);
      const named = this.#byStep.get(step) ?? [];
      named.push({ name, attempt: Number(attempt), granted: Number(granted) });
      this.#byStep.set(step, named);
    }
  }

  /**
   * What each beginning of a nested step started, by the event's number and in the order of attempts.
   * `within`: what names the run that the events are of; empty where names are relative to it.
   */
  startedIn(events: readonly RunEvent[], within: string): Map<number, string[]> {
    const begun = new Map<string, number[]>();
    for (const event of events) {
      if (event.type !== 'step-started' || event.step !== 'sentinel') continue;
      begun.set(event.key, [...(begun.get(event.key) ?? []), event.seq]);
    }
    const started = new Map<number, string[]>();
    for (const [key, seqs] of begun) {
      const turns = turnsOf(this.#byStep.get(within === '' ? key : `${within}/${key}`) ?? []);
      // More turns than beginnings: the last one has the rest.
      turns.forEach((names, turn) => {
        const seq = seqs.toSorted((a, b) => a - b)[Math.min(turn, seqs.length - 1)];
        if (seq !== undefined) started.set(seq, [...(started.get(seq) ?? []), ...names]);
      });
    }
    return started;
  }
}

/** Each time a limit is extended, the step begins anew, with attempts of its own. */
function turnsOf(runs: readonly Named[]): string[][] {
  const turns = new Map<number, string[]>();
  for (const { name, granted } of runs.toSorted((a, b) => a.granted - b.granted || a.attempt - b.attempt)) {
    turns.set(granted, [...(turns.get(granted) ?? []), name]);
  }
  return [...turns.values()];
}
