/**
 * The durable host, walking an old history again to find where the run stood at a step. The walk is
 * the run's own (signals, answers, timers, changes of behaviour and all), so what it finds is what
 * was. It adds nothing to the walk: it looks on, and tells through a sink that only those who look
 * something up provide.
 */
import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { Step } from '../../language/model.ts';
import { isOfSegment, segmentNumbers } from '../../language/events/event-numbers.ts';
import type { Gate, RunInput, SegmentReport, Strand } from '../../interpreter/host.ts';
import type { Effect, Reply, RunBudget } from '../../interpreter/effect.ts';
import { openModels } from '../../interpreter/open-models.ts';
import type { ModelFrame, Position } from '../../interpreter/position.ts';
import { throughJson } from '../../interpreter/simulation/through-json.ts';
import { startInputOf } from '../messages/start-input.ts';
import { TemporalHost } from '../host/temporal-host.ts';
import type { RetraceTarget, Settlement, Standing } from './retrace.ts';

interface RetraceSinks extends Sinks {
  retrace: { stands(standing: Standing): void; settled(settlement: Settlement): void };
}

const { retrace } = proxySinks<RetraceSinks>();

export class RetraceHost extends TemporalHost {
  private readonly target: RetraceTarget;
  private readonly inFlight = new Set<string>();
  private isFound = false;

  constructor(input: RunInput, position: Position, target: RetraceTarget) {
    super(input, position);
    this.target = target;
  }

  override gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate> {
    if (this.isThere(key, isOpen)) this.tell(this.target.key);
    return super.gate(strand, key, step, isOpen);
  }

  private isThere(key: string, isOpen: boolean): boolean {
    const { turn } = this.target;
    if (turn === undefined) return key === this.target.key && !isOpen;
    const begins = (frame: ModelFrame): boolean =>
      frame.key === key && frame.turn === turn.number && frame.calls === undefined;
    return key === turn.conversation && openModels(this.walk.position).some(begins);
  }

  override perform(strand: Strand, effect: Effect): Promise<Reply> {
    return this.watched(effect.key, super.perform(strand, effect), (reply) => ({ key: effect.key, reply }));
  }

  override segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport> {
    const { seq } = this.target;
    if (seq !== null && isOfSegment(seq, segmentNumbers(this.walk.position.seq))) this.tell(key);
    return this.watched(key, super.segment(strand, key, budget), (report) => ({ key, report }));
  }

  private tell(at: string): void {
    if (this.isFound) return;
    this.isFound = true;
    const { position, input } = this.walk;
    retrace.stands({
      at,
      now: this.now(),
      start: startInputOf(input, input.limits),
      position: throughJson(position),
      inFlight: [...this.inFlight],
    });
  }

  /** The same promise: one more in between could change the order of what follows. */
  private watched<Result>(
    key: string,
    pending: Promise<Result>,
    settlement: (result: Result) => Settlement,
  ): Promise<Result> {
    this.inFlight.add(key);
    const settle = (): void => void this.inFlight.delete(key);
    pending.then((result) => {
      settle();
      if (this.isFound) retrace.settled(settlement(result));
    }, settle);
    return pending;
  }
}
