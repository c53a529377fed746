/**
 * The durable host, walking an old history again to find where the run stood at a step. The walk is
 * the run's own (signals, answers, timers, changes of behaviour and all), so what it finds is what
 * was. It adds nothing to the walk: it looks on, and tells through a sink that only those who look
 * something up provide.
 */
import { proxySinks, type Sinks } from '@temporalio/workflow';
import { stepAt } from '../../language/edit.ts';
import type { Step } from '../../language/model.ts';
import type { ItemsAgain } from '../../language/events/run-event.ts';
import { isOfSegment, segmentNumbers } from '../../language/events/event-numbers.ts';
import { defined } from '../../language/defined.ts';
import { shieldOf, type Gate, type RunInput, type SegmentReport, type Strand } from '../../interpreter/host.ts';
import type { Place, Reply, RunBudget } from '../../interpreter/effect.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import { definitionPathOf } from '../../interpreter/edited-paths.ts';
import { stepKey } from '../../interpreter/keys.ts';
import { openModels } from '../../interpreter/models/open-models.ts';
import type { BlockFrame, ModelFrame, Position } from '../../interpreter/position.ts';
import { throughJson } from '../../language/json.ts';
import { startInputOf } from '../messages/start-input.ts';
import { TemporalHost } from '../host/temporal-host.ts';
import { numberIn, performAgain, reopen, type Line, type ListPick } from './lines-again.ts';
import type { RetraceTarget, Settlement, Standing } from './retrace.ts';

interface RetraceSinks extends Sinks {
  retrace: { stands(standing: Standing): void; settled(settlement: Settlement): void; line(line: Line): void };
}

const { retrace } = proxySinks<RetraceSinks>();

export class RetraceHost extends TemporalHost {
  private readonly target: RetraceTarget;
  private readonly inFlight = new Set<string>();
  private isFound = false;
  /** Lines that go on again from an earlier place, by their keys: the earliest counts. */
  private readonly lines = new Map<string, Line>();

  constructor(input: RunInput, position: Position, target: RetraceTarget) {
    super(input, position);
    this.target = target;
    for (const line of target.lists?.lines ?? []) this.lines.set(stepKey(line.path, line.passes), line);
  }

  override gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate> {
    if (this.isThere(key, isOpen)) this.tell(this.target.key);
    return super.gate(strand, key, step, isOpen);
  }

  private isThere(key: string, isOpen: boolean): boolean {
    const { turn, lists } = this.target;
    if (lists !== undefined) return false;
    if (turn === undefined) return key === this.target.key && !isOpen;
    const begins = (frame: ModelFrame): boolean =>
      frame.key === key && frame.turn === turn.number && frame.calls === undefined;
    return key === turn.conversation && openModels(this.walk.position).some(begins);
  }

  override perform(strand: Strand, allowed: Allowed): Promise<Reply> {
    const { key } = allowed.effect;
    return this.watched(key, super.perform(strand, allowed), (reply) => ({ key, reply }));
  }

  override segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport> {
    const { seq } = this.target;
    if (seq !== null && isOfSegment(seq, segmentNumbers(this.walk.position.seq)))
      this.tell(key, undefined, this.journalKey(key));
    return this.watched(key, super.segment(strand, key, budget), (report) => ({ key, report }));
  }

  override itemFails({ key }: Place, item: Strand): 'go' {
    const pick = this.pickOf(key);
    const isPicked = pick === 'failed' || pick?.includes(item.passes.at(-1) ?? 0) === true;
    if (!isPicked || !('block' in item.frame)) return 'go';
    const block = throughJson(item.frame.block);
    // One that begins again is not kept.
    if (reopen(block, item, this.isVerdict)) this.keep(item, block, []);
    return 'go';
  }

  /** Its frame is as the walk left it again once this has looked on. */
  override linesEnd(strand: Strand, place: Place, frame: BlockFrame): 'go' | 'yield' {
    const { step } = frame;
    if (this.target.lists === undefined || this.isFound || step?.type !== 'parallel' || shieldOf(strand) !== null)
      return 'go';
    const pick = this.pickOf(place.key);
    const inside = [...this.lines.values()].filter((line) => numberIn(place, line) !== null);
    if (pick === undefined && inside.every((line) => line.inside.length === 0)) return 'go';
    const again = throughJson(step);
    const items = performAgain(again, place, this.isVerdict, { pick, lines: inside });
    if (items === null) return 'go';
    frame.step = again;
    if (strand.path === '') this.tell(place.key, items);
    else if ('block' in strand.frame) this.keep(strand, throughJson(strand.frame.block), items);
    frame.step = step;
    return 'go';
  }

  private readonly isVerdict = (path: string): boolean =>
    stepAt(this.walk.input.definition, definitionPathOf(this.walk, path))?.type === 'fail';

  private pickOf(key: string): ListPick['items'] | undefined {
    return this.target.lists?.picks.find(({ at }) => at === key)?.items;
  }

  private keep({ path, passes, own }: Strand, block: BlockFrame, inside: ItemsAgain[]): void {
    const key = stepKey(path, passes);
    if (this.isFound || this.lines.has(key)) return;
    const line: Line = { path, passes: [...passes], own: throughJson(own), block, inside };
    this.lines.set(key, line);
    retrace.line(line);
  }

  private tell(at: string, items?: ItemsAgain[], segment?: string): void {
    if (this.isFound) return;
    this.isFound = true;
    const { position, input } = this.walk;
    retrace.stands({
      at,
      now: this.now(),
      start: startInputOf(input, input.limits),
      position: throughJson(position),
      inFlight: [...this.inFlight],
      ...defined({ items, segment }),
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
