/**
 * The host of a segment: quick steps run at once, in this process, over a session of the store; shell steps are claimed
 * and begun (acts.ts); everything else hands the strand back.
 */
import { SEGMENT_EVENTS_MAX, SEGMENT_MS } from '../../interpreter/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Step } from '../../language/model.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { isBegunInSegment, isQuick } from '../../interpreter/build-effect.ts';
import {
  type Gate,
  type Host,
  type RunInput,
  type SegmentReport,
  type Strand,
  isCancelled,
  PassingHost,
} from '../../interpreter/host.ts';
import type { Effect, GoesOn, Place, Reply } from '../../interpreter/effect.ts';
import { stepKey } from '../../interpreter/keys.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import type { BlockFrame } from '../../interpreter/position.ts';
import { isPlain } from '../../interpreter/walk/plain-steps.ts';
import type { Acts } from './acts.ts';

/** A step may record a start, an end and a warning for each unresolved name; this leaves room for them. */
const eventsReserve = 128;
/** One that is under way beside others has recorded all but its end, what becomes of it, and ends of steps around it. */
const eventsAtEnd = 4;

/** Runs one quick effect within the segment's session. */
export type Perform = (effect: Effect) => Promise<Reply>;

export class SegmentHost extends PassingHost implements Host {
  /** Those that no commit has yet. */
  events: RunEvent[] = [];
  steps = 0;
  private underWay = 0;
  private readonly startedAt = Date.now();
  private readonly stepsMax: number;
  private readonly input: Pick<RunInput, 'catalogue' | 'limits'>;
  private readonly run: Perform;
  private readonly acts: Acts | undefined;
  /** Lines in which a step has acted. */
  private readonly acted = new Set<string>();
  /** Events that were committed. */
  private committed = 0;

  /** `acts` absent: no step is begun that acts on the world. */
  constructor(stepsMax: number, input: Pick<RunInput, 'catalogue' | 'limits'>, run: Perform, acts?: Acts) {
    super();
    this.acts = acts;
    this.input = input;
    this.stepsMax = stepsMax;
    this.run = run;
  }

  now(): number {
    return Date.now();
  }

  /** Entering an open step again records nothing, and must not use up the segment. */
  gate(_strand: Strand, _key: string, step: Step, isOpen: boolean): Gate {
    return isOpen || this.mayRun(step) ? 'go' : 'yield';
  }

  private mayRun(step: Step): boolean {
    if (!isPlain(step) && !this.isInSegment(step)) return false;
    // It comes to one step at least.
    if ((this.recorded > 0 || this.underWay > 0) && this.isSpent()) return false;
    this.steps += 1;
    return true;
  }

  override isInSegment(step: Step): boolean {
    return isQuick(step, this.input.catalogue, this.input.limits) || this.claims(step);
  }

  override claims(step: Step): boolean {
    return this.acts !== undefined && isBegunInSegment(step, this.input.catalogue, this.input.limits);
  }

  private get recorded(): number {
    return this.committed + this.events.length;
  }

  private isSpent(): boolean {
    return (
      this.steps >= this.stepsMax ||
      Date.now() - this.startedAt >= SEGMENT_MS ||
      this.recorded + this.underWay * eventsAtEnd >= SEGMENT_EVENTS_MAX - eventsReserve
    );
  }

  override async performClaimed(strand: Strand, { effect }: Allowed): Promise<Reply | GoesOn> {
    if (this.acts === undefined || effect.type !== 'shell') throw new Error(`bug: "${effect.key}" is claimed`);
    this.underWay += 1;
    this.acted.add(stepKey(strand.path, strand.passes));
    try {
      const reply = await this.acts.perform(strand, effect);
      if (!('failure' in reply)) return reply;
      const { failure: error } = reply;
      return { ...reply, failure: { ...error, message: `${effect.key}: ${error.message}` } };
    } finally {
      this.underWay -= 1;
    }
  }

  async perform(_strand: Strand, { effect }: Allowed): Promise<Reply> {
    this.underWay += 1;
    try {
      return await this.run(effect);
    } catch (error) {
      if (error instanceof Failure)
        return { ok: false, failure: { ...error.toInfo(), message: `${effect.key}: ${error.message}` } };
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }

  override group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void } {
    return { ended: walk(), cancel: () => this.acts?.cancelLines() };
  }

  takeEvents(): RunEvent[] {
    const { events } = this;
    this.events = [];
    this.committed += events.length;
    return events;
  }

  segment(): Promise<SegmentReport> {
    throw new Error('bug: a segment cannot open another');
  }

  /** What acted before in the item is not to be done again where only what failed is. */
  override itemFails(_list: Place, { path, passes }: Strand): 'go' | 'yield' {
    return this.acted.has(stepKey(path, passes)) ? 'yield' : 'go';
  }

  /**
   * A segment has no place inside it that another run can begin with, and not the results of items that ended before:
   * the run itself ends a list with failed items, or with such results.
   */
  override linesEnd(strand: Strand, _place: Place, { step }: BlockFrame): 'go' | 'yield' {
    const items = step?.type === 'parallel' ? step.items : undefined;
    if (step?.type !== 'parallel' || items === undefined || isCancelled(strand)) return 'go';
    const hasFailed = (items.failed ?? []).length > 0 || step.branches.some(({ status }) => status === 'failed');
    return hasFailed || items.areElsewhere === true ? 'yield' : 'go';
  }

  record(event: RunEvent): void {
    this.events.push(event);
  }
}
