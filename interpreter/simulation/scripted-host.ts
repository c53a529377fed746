/**
 * A host that answers the interpreter from a script, in simulated time. It stands where the Temporal
 * host stands: it yields after a number of steps as continue-as-new does, and can hand quick steps
 * to a segment.
 */
import { type Json, throughJson } from '../../language/json.ts';
import type { Step } from '../../language/model.ts';
import type { PublishedEvent } from '../../language/events/published-event.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { HELD_WITH_PARENT, type Question } from '../../language/events/question.ts';
import { defined } from '../../language/defined.ts';
import { type AnswerRequest, withdrawLimits } from '../questions.ts';
import { isQuick } from '../build-effect.ts';
import { beginsSegment } from '../walk/segment-starts.ts';
import {
  isCancelled,
  shieldOf,
  type AgentAt,
  type AgentReport,
  type AskEnd,
  type Gate,
  type GroupRequest,
  type GroupTurn,
  type Host,
  type RestEnd,
  type RunInput,
  type SegmentReport,
  type Strand,
  type WantedEvent,
} from '../host.ts';
import type { Flow, NestedEffect, Reply, RunBudget } from '../effect.ts';
import type { Allowed } from '../verdict.ts';
import { record, type Walk } from '../walk-state.ts';
import { drive } from '../drive.ts';
import { limitAsked } from '../limits.ts';
import { nestedInput, nestedReply, resultOf, type RunResult } from '../outcome.ts';
import { firstLines, standsStill } from '../places.ts';
import { isPlain } from '../walk/plain-steps.ts';
import { firstPosition, type Position } from '../position.ts';
import { textFieldsOf } from '../program.ts';
import { walkRun } from '../walk/walk.ts';
import { BoundScopes } from './bound-scope.ts';
import { earlier, isPast } from '../waits.ts';
import { publishEnd } from './event-board.ts';
import { PlainAnswers } from './plain-answers.ts';
import { PLACE_KEY, type TimeEnd, untilDay } from './scripted-places.ts';
import { Questions } from './questions.ts';
import { runScriptedAgent } from './scripted-agent.ts';
import { makeScriptedEdit, makeScriptedTell } from './scripted-edit.ts';
import { replyTo, type Interruption } from './script.ts';
import { Scope, Waking } from './simulation.ts';
import { ToldNested } from './told-nested.ts';
import type { World } from './world.ts';

export type { Mode, SegmentAsked, World } from './world.ts';

export class ScriptedHost extends PlainAnswers implements Host {
  readonly events: RunEvent[] = [];
  /** Results of the run's segments, by their keys. */
  readonly journal = new Map<string, Json>();
  result: RunResult | null = null;
  /** Times the run continued as new. */
  continued = 0;
  walk: Walk;
  /** Events before the run began are not seen. */
  private readonly since: number;
  private readonly root = new Scope();
  private readonly children = new Set<ScriptedHost>();
  private readonly waking: Waking;
  readonly bound: Host['bound'];
  readonly isLate: Host['isLate'];
  private stepsBefore = 0;
  /** Whether it stood still when it last waited. */
  private stood = false;
  private groupTurns = 0;
  private pureSteps = 0;
  /** A line of execution returned its position to continue as new; the others follow. */
  private yielding = false;
  readonly questions = new Questions();
  /** Patterns of events that are waited for, by the keys of those who wait. */
  readonly awaited = new Map<string, string>();

  constructor(world: World, input: RunInput, around?: ScriptedHost) {
    super(world);
    this.walk = this.walkFrom(input, firstPosition(input.startedAt));
    this.since = world.board.head;
    this.waking = new Waking(world.simulation);
    this.told = new ToldNested(
      () => this.walk,
      around?.told,
      () => this.waking.wake(),
    );
    const times = new BoundScopes(world.simulation, this.waking, () => standsStill(this.walk.position));
    this.bound = (...bounded) => times.bound(...bounded);
    this.isLate = (...timed) => times.isLate(...timed);
    world.board.onPublished(() => this.waking.wake());
    world.runs.push(this);
  }

  private walkFrom(input: RunInput, position: Position): Walk {
    return { input, position, host: this, textFields: textFieldsOf(input), lines: firstLines(input) };
  }

  override suspended = (): void => {
    this.told?.tell();
    const { stood } = this;
    this.stood = standsStill(this.walk.position);
    if (stood && !this.stood) this.waking.wake();
  };

  async run(): Promise<RunResult> {
    const flow = await this.world.simulation.within(this.root, () => this.walkToEnd());
    this.result = resultOf(this.walk, flow, this.now());
    if (flow.kind === 'cancelled') this.cancel();
    return this.result;
  }

  private async walkToEnd(): Promise<Flow> {
    for (;;) {
      const flow = await drive(walkRun(this.walk), this.suspended);
      if (flow.kind !== 'yield') return flow;
      this.continued += 1;
      this.yielding = false;
      this.groupTurns = 0;
      this.walk = this.walkFrom(throughJson(this.walk.input), throughJson(this.walk.position));
      this.stepsBefore = this.walk.position.steps;
    }
  }

  gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate> {
    const { simulation, script } = this.world;
    const lateMs = script.lateAtGate?.(this.keyOf(key)) ?? 0;
    if (lateMs > 0)
      return simulation.after(lateMs, simulation.scope ?? this.root).then(() => this.gate(strand, key, step, isOpen));
    this.interrupt(key, 'before');
    const ends = this.interruption(strand);
    if (ends !== null) return ends;
    // Where steps may continue as new, each branch is to have its turn before the first of them does.
    if (this.walk.position.paused === null && this.world.mode.yieldEvery === undefined)
      return this.gateFor(strand, step, isOpen);
    return this.untilResumed(strand).then((held) => held ?? this.gateFor(strand, step, isOpen));
  }

  private gateFor(strand: Strand, step: Step, isOpen: boolean): Gate {
    const { yieldEvery, segments, pureStepsMax = 500 } = this.world.mode;
    if (
      shieldOf(strand) === null &&
      yieldEvery !== undefined &&
      this.walk.position.steps - this.stepsBefore >= yieldEvery
    ) {
      this.yielding = true;
      this.waking.wake();
      return 'yield';
    }
    if (segments !== true || this.walk.input.definition.durability === 'step') return 'go';
    if (!isOpen && beginsSegment(step, this)) return 'segment';
    const isPure = isPlain(step);
    if (isPure && isOpen) return 'go';
    this.pureSteps = isPure ? this.pureSteps + 1 : 0;
    if (this.pureSteps < pureStepsMax) return 'go';
    this.pureSteps = 0;
    return 'segment';
  }

  isInSegment(step: Step): boolean {
    return isQuick(step, this.walk.input.catalogue, this.walk.input.limits);
  }

  private interruption(strand?: Strand): 'stop' | 'cancel' | null {
    if (strand !== undefined && shieldOf(strand) !== null) return isCancelled(strand) ? 'cancel' : null;
    if (this.root.cancelled || this.world.simulation.scope?.cancelled === true) return 'cancel';
    return this.walk.position.stopping ? 'stop' : null;
  }

  private async untilResumed(strand?: Strand): Promise<'stop' | 'cancel' | null> {
    while (this.walk.position.paused !== null && this.interruption(strand) === null)
      await this.waking.untilWoken(this.world.simulation.scope);
    return this.interruption(strand);
  }

  private interrupt(key: string, when: 'before' | 'during'): void {
    for (const entry of this.world.script.interruptionsAt(this.keyOf(key), when)) {
      if (when === 'before') this.apply(entry);
      else this.world.simulation.schedule(entry.afterMs ?? 0, () => this.apply(entry));
    }
  }

  private apply(entry: Interruption): void {
    switch (entry.do) {
      case 'pause':
        this.pause('asked');
        this.world.simulation.schedule(entry.forMs ?? 10, () => this.resume('limits'));
        return;
      case 'stop':
        return this.stop();
      case 'cancel':
        return this.cancel();
      case 'answer':
        return void this.answer({ id: entry.at.split('/').at(-1) ?? entry.at, choice: 'approve', by: 'someone' });
      case 'edit':
        return makeScriptedEdit(() => this.walk, this.world, entry);
      case 'tell':
        return makeScriptedTell(this.walk, entry);
      default:
        return entry.do satisfies never;
    }
  }

  private pause(reason: string): void {
    const { position } = this.walk;
    if (position.paused !== null || position.stopping) return;
    position.paused = { reason, since: this.now() };
    record(this.walk, { type: 'paused', key: '', reason });
    for (const child of this.children) child.pause(HELD_WITH_PARENT);
  }

  private resume(how: 'pause' | 'limits' | 'answered'): void {
    const { position } = this.walk;
    if (position.paused === null || (how === 'pause' && position.paused.atLimit === true)) return;
    if (how === 'limits') withdrawLimits(this.walk);
    position.pausedMs += this.now() - position.paused.since;
    position.paused = null;
    record(this.walk, { type: 'resumed', key: '' });
    this.waking.wake();
    for (const child of this.children) child.resume(how === 'limits' ? how : 'pause');
  }

  stop(): void {
    this.resume('limits');
    this.walk.position.stopping = true;
    this.waking.wake();
    for (const child of this.children) child.stop();
  }

  private cancel(): void {
    this.root.cancel();
    for (const child of this.children) child.cancel();
  }

  private answer(request: AnswerRequest): void | Promise<void> {
    return this.questions.answer(
      () => this.walk,
      this.world.simulation,
      request,
      (reply) => {
        if ('answer' in reply && !reply.already && limitAsked(reply.id) !== null) {
          if (reply.answer.choice === 'stop') this.stop();
          else this.resume('answered');
        }
        this.waking.wake();
      },
    );
  }

  async perform(strand: Strand, { effect }: Allowed): Promise<Reply> {
    const key = this.keyOf(effect.key);
    this.world.effects.push({ key, effect });
    this.interrupt(effect.key, 'during');
    const scope = this.world.simulation.scope ?? this.root;
    const scripted = this.world.script.find(key, effect);
    if (scripted === null && effect.type === 'sentinel') return this.runNested(strand, effect, scope);
    if (!(await this.world.simulation.after(scripted?.tookMs ?? 1, scope))) return { ok: false, cancelled: true };
    const reply = replyTo(effect, scripted);
    if (effect.type === 'emit' && reply.ok) this.world.board.publish(key, effect.event, effect.data, this.now());
    return reply;
  }

  /** The same answers as a child workflow's. */
  private async runNested(strand: Strand, effect: NestedEffect, scope: Scope): Promise<Reply> {
    const child = new ScriptedHost(this.world, nestedInput(this.walk, strand, effect), this);
    if (shieldOf(strand) === null) this.children.add(child);
    const running = child.run();
    if (!effect.wait) {
      void running.then((result) => publishEnd(this.world.board, child.walk.input, result, this.now()));
      return { ok: true, value: { handle: child.walk.input.handle } };
    }
    scope.onCancel(() => child.cancel());
    const result = await running;
    this.children.delete(child);
    this.told?.ended(child.walk);
    if (scope.cancelled) return { ok: false, cancelled: true, ...defined({ usage: result.spent }) };
    return nestedReply(effect.key, result);
  }

  segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport> {
    const { world } = this;
    const scope = world.simulation.scope ?? this.root;
    const { position } = this.walk;
    this.pureSteps = 0;
    const every = world.mode.yieldEvery;
    const stepsLeft = every === undefined ? undefined : Math.max(1, every - (position.steps - this.stepsBefore));
    if (world.segment === undefined) throw new Error('bug: this mode has segments, and nothing runs them');
    return world.segment({ world, host: this, strand, key, scope, stepsLeft, budget });
  }

  hasAgents(): boolean {
    return this.world.mode.segments === true && this.walk.input.definition.durability !== 'step';
  }

  agent(strand: Strand, at: AgentAt, budget?: RunBudget): Promise<AgentReport> {
    return runScriptedAgent(this.walk, strand, at, budget);
  }

  async hold(reason: string, id: string): Promise<Gate> {
    const isHeld = this.walk.position.paused !== null;
    this.pause(reason);
    if (this.walk.position.paused !== null) this.walk.position.paused.atLimit = true;
    if (!this.put({ id, askedAt: 0 }) && !isHeld) {
      const answer = this.world.script.nextHold();
      const give = (): void => (answer === 'resume' ? this.resume('limits') : this.apply({ at: '', do: answer }));
      this.world.simulation.schedule(10, () => (this.result === null ? give() : undefined));
    }
    return (await this.untilResumed()) ?? 'go';
  }

  /** Has the script answer a question; whether that can let go on a run that is held. */
  private put(question: Pick<Question, 'id' | 'askedAt'>): boolean {
    const { script, simulation } = this.world;
    return this.questions.pose(question, this.keyOf(question.id), script, simulation, (asked) => this.answer(asked));
  }

  async rest(_key: string, ms: number, strand: Strand): Promise<RestEnd> {
    const untilMs = this.now() + ms;
    while (this.now() < untilMs && this.interruption(strand) === null) {
      if (this.yielding && shieldOf(strand) === null) return 'carry';
      await this.waking.untilWoken(this.world.simulation.scope, untilMs);
    }
    return this.interruption(strand) ?? 'go';
  }

  async ask(strand: Strand, question: Question, untilMs: number | null): Promise<AskEnd> {
    const { id, askedAt } = question;
    this.interrupt(id, 'during');
    this.put(question);
    if (this.world.mode.yieldAsking === true && shieldOf(strand) === null && this.questions.carry(question))
      return 'yield';
    for (;;) {
      const held = this.interruption(strand) ?? (await this.untilResumed(strand));
      if (held) return held;
      if (!this.walk.position.questions.some((open) => open.id === id && open.askedAt === askedAt)) return 'settled';
      if (this.yielding && shieldOf(strand) === null) return 'yield';
      const end = this.endNow(strand, untilMs);
      if (isPast(this.walk, end)) return 'late';
      await this.waking.untilWoken(this.world.simulation.scope, end);
    }
  }

  async sleep(...[strand, key, untilMs, clockMs]: Parameters<Host['sleep']>): ReturnType<Host['sleep']> {
    this.interrupt(key, 'during');
    return (await this.untilTime(strand, () => this.endNow(strand, untilMs, clockMs))) ?? 'late';
  }

  /** A time that is late does not end the wait while the run stands still; what comes by the clock does. */
  private endNow(strand: Strand, untilMs: number | null, clockMs: number | null = null): number | null {
    if (untilMs === null || this.now() < untilMs || !standsStill(this.walk.position)) return untilMs;
    return earlier(clockMs, shieldOf(strand)?.until ?? null);
  }

  /** Null once it is so late. */
  private async untilTime(
    strand: Strand | undefined,
    until: () => number | null,
    isOver = (): boolean => false,
  ): Promise<TimeEnd> {
    for (;;) {
      const held = this.interruption(strand) ?? (await this.untilResumed(strand));
      if (held) return held;
      if (isPast(this.walk, until()) || isOver()) return null;
      if (this.yielding && (strand === undefined || shieldOf(strand) === null)) return 'yield';
      await this.waking.untilWoken(this.world.simulation.scope, until());
    }
  }

  async askForGroup(request: GroupRequest): Promise<GroupTurn | 'yield' | 'stop' | 'cancel'> {
    const held = this.interruption() ?? (await this.untilResumed());
    if (held) return held;
    const { yieldEvery } = this.world.mode;
    if (yieldEvery !== undefined && this.groupTurns >= yieldEvery) return 'yield';
    this.groupTurns += 1;
    return this.world.groups.ask(request);
  }

  async takePlace(...[strand, tell]: Parameters<Host['takePlace']>): ReturnType<Host['takePlace']> {
    this.interrupt(PLACE_KEY, 'during');
    const until = this.world.places.ask(this.now());
    if (this.now() < until) tell({ state: 'waiting', holder: 'other', ahead: 1 });
    const end = await this.untilTime(
      strand ?? undefined,
      () => until,
      () => this.walk.position.place?.taken === true,
    );
    if (end === null) this.world.places.take();
    return end ?? 'taken';
  }

  async awaitDay(...[strand, key, tell]: Parameters<Host['awaitDay']>): ReturnType<Host['awaitDay']> {
    this.interrupt(key, 'during');
    return untilDay(this.world, tell, (until) => this.untilTime(strand, () => until));
  }

  async leavePlace(): Promise<void> {
    this.world.places.leave();
  }

  async nextEvent(strand: Strand, wanted: WantedEvent): Promise<PublishedEvent | Exclude<AskEnd, 'settled'>> {
    this.interrupt(wanted.key, 'during');
    for (;;) {
      const held = this.interruption(strand) ?? (await this.untilResumed(strand));
      if (held) return held;
      const found = this.world.board.next(
        wanted.isOwn === true ? wanted : { ...wanted, consumed: this.walk.position.consumed ?? {} },
        this.since,
      );
      if (found !== null) return found;
      if (this.yielding && shieldOf(strand) === null) return 'yield';
      const end = this.endNow(strand, wanted.untilMs);
      if (isPast(this.walk, end)) return 'late';
      this.awaited.set(wanted.key, wanted.pattern);
      await this.waking.untilWoken(this.world.simulation.scope, end);
      this.awaited.delete(wanted.key);
    }
  }

  record = (event: RunEvent): void => void this.events.push(event);
}
