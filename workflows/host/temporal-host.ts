/**
 * The durable host: activities, timers and child workflows answer the interpreter.
 *
 * Long steps are regular activities; a quick step opens a segment, one local activity that walks on
 * until it meets a long step (activities/segment).
 */
import {
  CancellationScope,
  isCancellation,
  scheduleActivity,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import {
  AGENT,
  ASK_FOR_GROUP,
  EMIT,
  LLM,
  SEGMENT,
  SHELL,
  WATCH,
  type AgentRequest,
  type GroupAsked,
  type HandedOver,
  type SegmentRequest,
  type SegmentResult,
} from '../../interpreter/contract.ts';
import { commandQueue } from '../../language/command-queue.ts';
import { PLACES, segmentNumbers } from '../../language/events/event-numbers.ts';
import { entryOf } from '../../language/catalogue.ts';
import { segmentStepsMax } from '../../language/limits.ts';
import type { Step } from '../../language/model.ts';
import type { Question } from '../../language/events/question.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import {
  activityOptions,
  agentOptions,
  groupOptions,
  segmentOptions,
  stepOptions,
  type ActivityEffect,
} from './activity-options.ts';
import { boundScope, endsLate } from './bound-scope.ts';
import { Control } from './control.ts';
import { detailsOf, labelAt } from './details.ts';
import { Editing } from './editing.ts';
import { isWalkedInSegment, labelOf } from '../../interpreter/build-effect.ts';
import { withUsageApart } from '../../interpreter/command-cost.ts';
import { beginsSegment } from '../../interpreter/walk/segment-starts.ts';
import { stepTimeLeft, turnRequest } from '../../interpreter/models/build-turn.ts';
import {
  leftAround,
  portionOf,
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
} from '../../interpreter/host.ts';
import type { Flow, Reply, RunBudget } from '../../interpreter/effect.ts';
import type { Allowed } from '../../interpreter/verdict.ts';
import { heldMs, type Walk } from '../../interpreter/walk-state.ts';
import { turnsGranted } from '../../interpreter/limits.ts';
import { firstLines, standsStill } from '../../interpreter/places.ts';
import { isPlain } from '../../interpreter/walk/plain-steps.ts';
import type { Position } from '../../interpreter/position.ts';
import { rowName } from '../../interpreter/segment-rows.ts';
import { textFieldsOf } from '../../interpreter/program.ts';
import { editedStrand } from '../../interpreter/edited-paths.ts';
import { askLocally } from '../replay-order/local-activity.ts';
import { LocalAnswers } from './local-answers.ts';
import { runNested } from './nested-run.ts';
import { listenToTelling } from './telling.ts';
import { nextEvent, type EventEnd } from './next-event.ts';
import { Places } from './places.ts';
import { Recording } from './recording.ts';
import { agentReportOf, replyOf } from './replies.ts';
import { performShell } from './shell-step.ts';
import { TaskTime } from '../replay-order/task-time.ts';
import { Waiting } from './waiting.ts';

/** Past these a run waits for its long steps to end before it continues as new. */
const historyEventsMax = 20_000;
const historyBytesMax = 20 * 1024 * 1024;

export class TemporalHost extends LocalAnswers implements Host {
  readonly walk: Walk;
  readonly control: Control;
  private readonly waiting: Waiting;
  private readonly editing: Editing;
  readonly takePlace: Host['takePlace'];
  readonly leavePlace: Host['leavePlace'];
  readonly awaitDay: Host['awaitDay'];
  private readonly time: TaskTime;
  private readonly root = CancellationScope.current();
  private readonly recording: Recording;
  private longSteps = 0;
  /** How often the run has asked for its group in this history. */
  private groupTurns = 0;
  private readonly stepsBefore: number;
  /** Segments that ended, with the history's length then: known to history once it has grown. */
  private ended: { key: string; historyLength: number }[] = [];

  constructor(input: RunInput, position: Position) {
    super();
    this.walk = { input, position, host: this, textFields: textFieldsOf(input), lines: firstLines(input) };
    this.recording = new Recording(this.walk);
    this.control = new Control(this.walk);
    this.waiting = new Waiting(this.walk, this.control);
    const places = new Places(this.waiting, () => this.shouldContinueAsNew());
    ({ take: this.takePlace, leave: this.leavePlace, awaitDay: this.awaitDay } = places);
    this.editing = new Editing(this.walk, this.control);
    listenToTelling(this.walk, this.control);
    this.time = new TaskTime();
    this.stepsBefore = position.steps;
    this.root.cancelRequested.catch(() => {
      this.control.cancelled = true;
    });
  }

  now(): number {
    return Date.now();
  }

  gate(strand: Strand, key: string, step: Step, isOpen: boolean): Gate | Promise<Gate> {
    const held = this.waiting.interruption(strand);
    if (held) return held;
    if (this.walk.position.paused !== null)
      return this.waiting.untilResumed(strand).then((gate) => gate ?? this.gate(strand, key, step, isOpen));
    // That a branch was cancelled is not in the position, so a clean-up ends before the run continues.
    if (shieldOf(strand) === null && this.shouldContinueAsNew()) {
      this.waiting.beginToYield();
      this.control.agents.handBack();
      return 'yield';
    }
    return this.gateFor(step, isOpen, () => this.gate(strand, key, step, isOpen));
  }

  /** Asks again where something had to come before it. */
  private segmentGate(again: () => Gate | Promise<Gate>): Gate | Promise<Gate> {
    const gate: 'segment' | Promise<Gate | void> = this.time.beforeSegment(this.walk) ?? this.editing.segmentGate();
    return gate === 'segment' ? gate : gate.then((end) => (end === 'cancel' ? end : again()));
  }

  /** No segment begins at a step that is open: it has or waits for an answer, or a segment had its key already. */
  private beginsSegment(step: Step, isOpen: boolean): boolean {
    return this.hasSegments() && !isOpen && beginsSegment(step, this);
  }

  isInSegment(step: Step): boolean {
    return isWalkedInSegment(step, this.walk.input.catalogue, this.walk.input.limits);
  }

  hasAgents(): boolean {
    return this.hasSegments();
  }

  private hasSegments(): boolean {
    return this.walk.input.definition.durability !== 'step';
  }

  private gateFor(step: Step, isOpen: boolean, again: () => Gate | Promise<Gate>): Gate | Promise<Gate> {
    if (this.beginsSegment(step, isOpen)) return this.segmentGate(again);
    if (!isPlain(step)) {
      this.time.hadEffect();
      return 'go';
    }
    if (isOpen || !this.time.isSpentByPureStep()) return 'go';
    return this.hasSegments()
      ? this.segmentGate(again)
      : this.time.rest().then(() => this.waiting.interruption() ?? 'go');
  }

  private shouldContinueAsNew(): boolean {
    // A workflow that is being cancelled cannot.
    if (this.control.cancelled) return false;
    const info = workflowInfo();
    const every = this.walk.input.continueEvery;
    const isDue =
      every === undefined
        ? info.continueAsNewSuggested
        : Math.max(this.walk.position.steps - this.stepsBefore, this.waitsSoFar()) >= every;
    return (
      isDue && (this.longSteps === 0 || info.historyLength > historyEventsMax || info.historySize > historyBytesMax)
    );
  }

  /** Turns of waiting for the group, while the run waits for it. */
  private waitsSoFar(): number {
    return this.walk.position.group?.taken === true ? 0 : this.groupTurns;
  }

  perform(strand: Strand, { effect }: Allowed): Promise<Reply> {
    switch (effect.type) {
      case 'shell':
        if (effect.begun !== undefined) this.showBegun(effect);
        return this.asLongStep(performShell(effect, (request) => this.activity(SHELL, effect, request)));
      case 'command': {
        const reply = this.activity(effect.command, effect, effect.params);
        const { uses } = entryOf(this.walk.input.catalogue, effect.command);
        return uses?.models === true && effect.call === undefined ? reply.then(withUsageApart) : reply;
      }
      case 'emit':
        return this.activity(EMIT, effect, { event: effect.event, data: effect.data });
      case 'sentinel':
        return this.asLongStep(runNested(this.walk, this.control, strand, effect));
      case 'watch':
        return this.asLongStep(this.activity(WATCH, effect, effect.request));
      case 'turn':
        return this.asLongStep(this.activity(LLM, effect, turnRequest(effect)));
      default:
        return effect satisfies never;
    }
  }

  private activity(type: string, effect: ActivityEffect, request: object): Promise<Reply> {
    const options = activityOptions(effect, this.queueOf(effect));
    return replyOf(effect.key, scheduleActivity(type, [request, ...stepOptions(effect)], options));
  }

  /** A segment recorded the start of the step, which this never heard of. */
  private showBegun({ key, label }: Pick<ActivityEffect, 'key' | 'label'>): void {
    this.control.current.set(key, label);
    setCurrentDetails(detailsOf(this.control.state(), this.walk.position));
  }

  /** Undefined: that of the run. */
  private queueOf(effect: ActivityEffect): string | undefined {
    const queue = effect.type === 'command' ? entryOf(this.walk.input.catalogue, effect.command).queue : undefined;
    return queue === undefined ? undefined : commandQueue(workflowInfo().taskQueue, queue);
  }

  performs(): boolean {
    return true;
  }

  private asLongStep<Result>(pending: Promise<Result>): Promise<Result> {
    this.longSteps += 1;
    return pending.finally(() => {
      this.longSteps -= 1;
    });
  }

  async segment(strand: Strand, key: string, budget?: RunBudget): Promise<SegmentReport> {
    const { position, input } = this.walk;
    const request: SegmentRequest = {
      ...this.handOver(strand, key, budget),
      stepsMax: this.stepsLeft(),
      tally: strand.path === '' ? position.tally : null,
      forget: this.forgettable(),
    };
    this.time.hadEffect();
    try {
      const result = await askLocally<SegmentResult>(
        this.walk,
        SEGMENT,
        [input, request],
        segmentOptions(key, labelAt(key, input.definition)),
      );
      this.ended.push({ key: rowName(request.key, result.commits ?? 1), historyLength: workflowInfo().historyLength });
      if (this.time.isSpentBySegment(result)) await this.time.rest();
      return result;
    } catch (error) {
      if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
      return { flow: { kind: 'cancelled' }, frame: strand.frame, set: {}, tally: null, steps: 0 };
    }
  }

  async agent(strand: Strand, at: AgentAt, budget?: RunBudget): Promise<AgentReport> {
    const { step, place, open } = at;
    const left = leftAround(strand);
    const request: AgentRequest = {
      ...this.handOver(strand, at.key, budget),
      step,
      place,
      open,
      ...(left === null ? {} : { leftMs: left }),
    };
    const { key } = request;
    const options = agentOptions({ ...at, key }, labelOf(step), stepTimeLeft(this.walk, strand, step, open));
    const pending = scheduleActivity<AgentReport>(AGENT, [this.walk.input, request], options);
    return agentReportOf(at.key, open, this.asLongStep(this.control.agents.during(key, pending)));
  }

  /** What every segment is given. Its events get numbers of their own. */
  private handOver(strand: Strand, key: string, budget: RunBudget | undefined): HandedOver {
    const { position } = this.walk;
    // A lost attempt of this task may have committed the segment already, and what arrives meanwhile
    // (a pause) records events before it. They never take the segment's numbers.
    const numbers = segmentNumbers(position.seq);
    const handed: HandedOver = {
      strand: portionOf(strand),
      key: this.journalKey(key),
      seq: numbers.from,
      places: PLACES,
      pausedMs: heldMs(this.walk),
      extensions: position.extensions,
      ...defined({ budget }),
      ...editedStrand(this.walk, strand),
    };
    position.seq = numbers.taken;
    return handed;
  }

  /** A step begins one segment, and another for each time a limit was extended while it was at it. */
  protected journalKey(key: string): string {
    const granted = turnsGranted(this.walk.position);
    return granted === 0 ? key : `${key} ${granted}`;
  }

  private stepsLeft(): number {
    const every = this.walk.input.continueEvery;
    if (every === undefined) return segmentStepsMax;
    return Math.max(1, every - (this.walk.position.steps - this.stepsBefore));
  }

  private forgettable(): string[] {
    const { historyLength } = workflowInfo();
    const known = this.ended.filter((segment) => segment.historyLength < historyLength);
    this.ended = this.ended.filter((segment) => segment.historyLength >= historyLength);
    return known.map((segment) => segment.key);
  }

  async hold(reason: string): Promise<Gate> {
    this.control.holdAtLimit(reason);
    return (await this.waiting.untilResumed()) ?? 'go';
  }

  rest(key: string, ms: number, strand: Strand): Promise<RestEnd> {
    return this.waiting.rest(key, ms, strand);
  }

  bound(strand: Strand, leftMs: () => number, walk: () => Promise<Flow>): Promise<Flow> {
    return boundScope(strand, leftMs, () => !standsStill(this.walk.position), walk);
  }

  isLate(leftMs: () => number, ended: Promise<unknown>): Promise<boolean> {
    return endsLate(leftMs, () => !standsStill(this.walk.position), ended);
  }

  ask(strand: Strand, question: Question, untilMs: number | null): Promise<AskEnd> {
    return this.waiting.forAnswer(strand, question, untilMs);
  }

  sleep(...[strand, key, untilMs, clockMs]: Parameters<Host['sleep']>): ReturnType<Host['sleep']> {
    this.suspended();
    return this.waiting.forTime(strand, key, untilMs, clockMs);
  }

  async askForGroup(asked: GroupRequest): Promise<GroupTurn | 'yield' | 'stop' | 'cancel'> {
    this.suspended();
    const held = (await this.waiting.untilResumed()) ?? this.waiting.interruption();
    if (held) return held;
    if (this.groupTurns > 0 && this.shouldContinueAsNew()) return 'yield';
    this.groupTurns += 1;
    const request: GroupAsked = { ...asked, since: workflowInfo().startTime.getTime() };
    try {
      return await askLocally<GroupTurn>(this.walk, ASK_FOR_GROUP, [request], groupOptions(asked.group));
    } catch (error) {
      if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
      return this.waiting.interruption() ?? 'cancel';
    }
  }

  nextEvent(strand: Strand, wanted: WantedEvent): Promise<EventEnd> {
    this.suspended();
    return nextEvent(this.waiting, strand, wanted);
  }

  group<Result>(walk: () => Promise<Result>): { ended: Promise<Result>; cancel: () => void } {
    const scope = new CancellationScope({ cancellable: true, parent: CancellationScope.current() });
    return { ended: scope.run(walk), cancel: () => scope.cancel() };
  }

  record(event: RunEvent): void {
    this.control.remember(event);
    this.recording.add(event);
  }

  suspended(): void {
    if (this.control.ended === null) this.control.around.tell();
    if (this.recording.send()) setCurrentDetails(detailsOf(this.control.state(), this.walk.position));
  }

  /** Before history is left behind: nothing will replay the events that are still on their way. */
  settle(): void {
    this.suspended();
    this.recording.settle();
  }
}
