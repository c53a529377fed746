/**
 * What a run records of itself, on its way to the worker, which writes it in batches. Nothing of it
 * enters history. An attempt that was lost may have recorded what history does not know: whoever first
 * goes on from where history ends has that taken back.
 */
import { proxySinks, workflowInfo, type Sinks } from '@temporalio/workflow';
import { withRoom } from '../../language/events/event-numbers.ts';
import type { Definition } from '../../language/model.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Walk } from '../../interpreter/walk-state.ts';

export interface RunSinks extends Sinks {
  recorder: {
    /** `definition`: what the run's start is to name. `lostFrom`: what has this number, or a higher one, was recorded by an attempt that was lost. */
    append(handle: string, events: RunEvent[], definition?: Definition, lostFrom?: number): void;
    settle(handle: string): void;
    /** Tells the agent segment that begins at a key to hand back before its next turn. */
    handBack(handle: string, key: string): void;
  };
}

export const { recorder } = proxySinks<RunSinks>();

/** Events of history when the first attempt of the first task begins. */
const historyAtStart = 3;

export class Recording {
  private readonly walk: Walk;
  private unsent: RunEvent[] = [];
  private hasGoneOn = false;

  constructor(walk: Walk) {
    this.walk = walk;
    walk.position.seq = withRoom(walk.position.seq);
  }

  add(event: RunEvent): void {
    this.unsent.push(event);
    this.walk.position.seq = withRoom(event.seq);
  }

  /** Whether there was anything. */
  send(): boolean {
    const [first] = this.unsent;
    if (first === undefined) return false;
    const { handle, definition } = this.walk.input;
    const isNameless = first.type === 'run-started' && first.definitionHash === '';
    recorder.append(handle, this.unsent, isNameless ? definition : undefined, this.goesOn() ? first.seq : undefined);
    this.unsent = [];
    return true;
  }

  private goesOn(): boolean {
    const { unsafe, historyLength } = workflowInfo();
    if (this.hasGoneOn || unsafe.isReplaying) return false;
    this.hasGoneOn = true;
    return historyLength > historyAtStart;
  }

  /** Of what was sent, nothing is still on its way when the workflow task is answered. */
  settle(): void {
    recorder.settle(this.walk.input.handle);
  }
}

/** Agent segments in flight: what the run is told meanwhile makes them hand back before their next turn. */
export class Agents {
  readonly #handle: string;
  readonly #inFlight = new Set<string>();

  constructor(handle: string) {
    this.#handle = handle;
  }

  async during<Result>(key: string, pending: Promise<Result>): Promise<Result> {
    this.#inFlight.add(key);
    try {
      return await pending;
    } finally {
      this.#inFlight.delete(key);
    }
  }

  handBack(): void {
    for (const key of this.#inFlight) recorder.handBack(this.#handle, key);
  }
}
