/**
 * The host of a segment: quick steps run at once, in this process, over one session of the store;
 * everything else hands the strand back. Nothing here outlives the segment.
 */
import { SEGMENT_EVENTS_MAX, SEGMENT_MS } from '../../interpreter/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Step } from '../../language/model.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { isQuick } from '../../interpreter/build-effect.ts';
import {
  type Gate,
  type Host,
  type RunInput,
  type SegmentReport,
  type Strand,
  isCancelled,
  PassingHost,
} from '../../interpreter/host.ts';
import type { Effect, Place, Reply } from '../../interpreter/effect.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import type { BlockFrame } from '../../interpreter/position.ts';
import { isPlain } from '../../interpreter/walk/plain-steps.ts';

/** A step may record a start, an end and a warning for each unresolved name; this leaves room for them. */
const eventsReserve = 128;
/** One that is under way beside others has recorded all but its end, what becomes of it, and ends of steps around it. */
const eventsAtEnd = 4;

/** Runs one quick effect within the segment's session. */
export type Perform = (effect: Effect) => Promise<Reply>;

export class SegmentHost extends PassingHost implements Host {
  readonly events: RunEvent[] = [];
  steps = 0;
  private underWay = 0;
  private readonly startedAt = Date.now();
  private readonly stepsMax: number;
  private readonly input: Pick<RunInput, 'catalogue' | 'limits'>;
  private readonly run: Perform;

  constructor(stepsMax: number, input: Pick<RunInput, 'catalogue' | 'limits'>, run: Perform) {
    super();
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
    if (!isPlain(step) && !isQuick(step, this.input.catalogue, this.input.limits)) return false;
    // It comes to one step at least.
    if ((this.events.length > 0 || this.underWay > 0) && this.isSpent()) return false;
    this.steps += 1;
    return true;
  }

  private isSpent(): boolean {
    return (
      this.steps >= this.stepsMax ||
      Date.now() - this.startedAt >= SEGMENT_MS ||
      this.events.length + this.underWay * eventsAtEnd >= SEGMENT_EVENTS_MAX - eventsReserve
    );
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

  segment(): Promise<SegmentReport> {
    throw new Error('bug: a segment cannot open another');
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
