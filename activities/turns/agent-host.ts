/**
 * The host of an agent segment: turns and their calls are performed here, one after the other, and everything
 * else hands the position back. Between two turns what was done is kept; what a call that takes long has begun is
 * shown meanwhile.
 */
import { isCalledInTurn } from '../../interpreter/build-effect.ts';
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
  /** Shows these events to whoever follows the run. */
  show(events: readonly RunEvent[]): Promise<void>;
  /** Whether the run wants the step back. */
  isWanted(): Promise<boolean>;
  /** Events that an attempt before has shown since it last kept what was done: they come again. */
  shown: readonly RunEvent[];
  signal: AbortSignal;
}

/** A call that takes longer is shown while it is under way. */
const SHOWN_AFTER_MS = 250;
/** Between two calls the run is asked whether it wants the step back, if nobody has asked for so long. */
const ASKED_AFTER_MS = 100;

export class AgentHost extends PassingHost implements Host {
  #unkept: RunEvent[] = [];
  #askedAt = Date.now();
  readonly #parts: AgentParts;
  readonly #shown: Set<string>;

  constructor(parts: AgentParts) {
    super();
    this.#parts = parts;
    this.#shown = new Set(parts.shown.map(essenceOf));
  }

  now(): number {
    return Date.now();
  }

  /** `isOpen`: between calls of a turn, which follow one another. */
  gate(_strand: Strand, _key: string, _step: Step, isOpen: boolean): Gate | Promise<Gate> {
    if (this.#isCancelled()) return 'cancel';
    if (!isOpen) return this.#betweenTurns();
    return Date.now() - this.#askedAt < ASKED_AFTER_MS ? 'go' : this.#betweenCalls();
  }

  async #betweenTurns(): Promise<Gate> {
    this.#askedAt = Date.now();
    return (await this.#parts.keep(this.takeEvents())) ? 'go' : 'yield';
  }

  async #betweenCalls(): Promise<Gate> {
    this.#askedAt = Date.now();
    return (await this.#parts.isWanted()) ? 'yield' : 'go';
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
        return this.#shownMeanwhile(this.#parts.call(effect));
      case 'shell':
      case 'emit':
      case 'sentinel':
      case 'watch':
        throw new Error(`bug: a "${effect.type}" step reached an agent segment`);
      default:
        return effect satisfies never;
    }
  }

  async #shownMeanwhile(call: Promise<Json>): Promise<Json> {
    let shown = Promise.resolve();
    const timer = setTimeout(() => void (shown = this.#show()), SHOWN_AFTER_MS);
    try {
      return await call;
    } finally {
      clearTimeout(timer);
      await shown;
    }
  }

  /** With the store away they are kept at the next turn. */
  async #show(): Promise<void> {
    const events = this.takeEvents();
    if (events.length === 0) return;
    try {
      await this.#parts.show(events);
    } catch {
      this.#unkept.unshift(...events);
    }
  }

  override performs(step: Step): boolean {
    return isCalledInTurn(step, this.#parts.input.catalogue, this.#parts.input.limits);
  }

  /** A wait is the run's to take. */
  override rest(): Promise<RestEnd> {
    return Promise.resolve('carry');
  }

  segment(): never {
    throw new Error('bug: a segment begins inside an agent segment');
  }

  record(event: RunEvent): void {
    if (!this.#shown.delete(essenceOf(event))) this.#unkept.push(event);
  }
}

/** What makes it this event, whenever it was recorded. */
const essenceOf = (event: RunEvent): string =>
  JSON.stringify([event.type, event.key, 'code' in event ? event.code : '', 'message' in event ? event.message : '']);
