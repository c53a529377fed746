/**
 * The host of an agent segment: turns and quick calls are performed here, one after the other, and everything
 * else hands the position back. Between two turns what was done is kept.
 */
import { isQuick } from '../../interpreter/build-effect.ts';
import type { CommandEffect, Effect, Reply, TurnEffect } from '../../interpreter/effect.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import { PassingHost, type Gate, type Host, type RestEnd, type RunInput, type Strand } from '../../interpreter/host.ts';
import type { Json } from '../../language/json.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Step } from '../../language/model.ts';
import { Failure } from '../../world/failures/failures.ts';

/** What an attempt is told where somebody cancels its run. A worker that ends, or stood still until the server gave the attempt to another, is told something else. */
const CANCELLED = 'CANCELLED';

export interface AgentParts {
  input: Pick<RunInput, 'catalogue' | 'limits'>;
  turn(effect: TurnEffect): Promise<Json>;
  call(effect: CommandEffect): Promise<Json>;
  /** Keeps what was done so far, with these events; whether the segment may go on. */
  keep(events: readonly RunEvent[]): Promise<boolean>;
  signal: AbortSignal;
}

export class AgentHost extends PassingHost implements Host {
  #unkept: RunEvent[] = [];
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    super();
    this.#parts = parts;
  }

  now(): number {
    return Date.now();
  }

  /** `isOpen`: between calls of a turn, which follow one another. */
  gate(_strand: Strand, _key: string, _step: Step, isOpen: boolean): Gate | Promise<Gate> {
    if (this.#isCancelled()) return 'cancel';
    return isOpen ? 'go' : this.#betweenTurns();
  }

  async #betweenTurns(): Promise<Gate> {
    return (await this.#parts.keep(this.takeEvents())) ? 'go' : 'yield';
  }

  /** Whatever else ends the attempt leaves the segment to another one. */
  #isCancelled(): boolean {
    const { aborted, reason } = this.#parts.signal;
    if (aborted && !(reason instanceof Error && reason.message === CANCELLED)) throw reason;
    return aborted;
  }

  takeEvents(): RunEvent[] {
    const events = this.#unkept;
    this.#unkept = [];
    return events;
  }

  async perform(_strand: Strand, { effect }: Allowed): Promise<Reply> {
    try {
      return { ok: true, value: await this.#run(effect) };
    } catch (error) {
      if (this.#isCancelled()) return { ok: false, cancelled: true };
      // The store is away: the segment is tried again from what it kept.
      if (!(error instanceof Failure) || error.code === 'STORE_UNAVAILABLE') throw error;
      return { ok: false, failure: { ...error.toInfo(), message: `${effect.key}: ${error.message}` } };
    }
  }

  #run(effect: Effect): Promise<Json> {
    switch (effect.type) {
      case 'turn':
        return this.#parts.turn(effect);
      case 'command':
        return this.#parts.call(effect);
      case 'shell':
      case 'emit':
      case 'sentinel':
      case 'watch':
        throw new Error(`bug: a "${effect.type}" step reached an agent segment`);
      default:
        return effect satisfies never;
    }
  }

  override performs(step: Step): boolean {
    return isQuick(step, this.#parts.input.catalogue, this.#parts.input.limits);
  }

  /** A wait is the run's to take. */
  override rest(): Promise<RestEnd> {
    return Promise.resolve('carry');
  }

  segment(): never {
    throw new Error('bug: a segment begins inside an agent segment');
  }

  record(event: RunEvent): void {
    this.#unkept.push(event);
  }
}
