/**
 * Control of a run while it runs: pause, resume and stop as updates with validators, the same verbs
 * as a signal from a parent to its nested runs, and the queries. Every verb may be repeated: saying
 * it again changes nothing and is answered with the state as it is.
 */
import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { depthFault } from '../../language/json.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { Choice, Question } from '../../language/events/question.ts';
import type { RunEvent, RunStatus } from '../../language/events/run-event.ts';
import { inlineBytesMax } from '../../language/limits.ts';
import { CHECK_FORM } from '../../interpreter/contract.ts';
import { answerOptions } from './activity-options.ts';
import { Around } from './around.ts';
import { waitsFor } from './details.ts';
import { Agents } from './recording.ts';
import {
  firstAnswer,
  refusalOf,
  takeAnswer,
  unfit,
  type AnswerReply,
  type AnswerRequest,
  withdrawLimits,
} from '../../interpreter/questions.ts';
import { record, type Walk } from '../../interpreter/walk-state.ts';
import { holdBesides, holdOf, holdWithParent, letGoOf, letGoWithParent, type Hold } from '../../interpreter/holds.ts';
import { limitAsked } from '../../interpreter/limits.ts';
import { openModels } from '../../interpreter/models/open-models.ts';
import { lastInTurn } from '../replay-order/last-in-turn.ts';
import { askLocally } from '../replay-order/local-activity.ts';
import {
  ANSWER,
  QUERIES,
  SIGNALS,
  UPDATES,
  workflowIdOf,
  type ControlVerb,
  type Messages,
  type RunState,
} from '../messages/messages.ts';
import { answerBetweenLocalActivities } from '../replay-order/queries.ts';
import { SEARCH_ATTRIBUTES } from '../messages/search-attributes.ts';
import { controlMessage, type ControlWord } from '../seal/control-message.ts';
import { Admission } from '../seal/admission.ts';
import { Updates } from '../replay-order/updates.ts';

const traceKeptMax = 100;

/** As a status tells of it, which no reference stands in for: what is too large for that is in the inbox. */
function told(question: Question): Question {
  const { show } = question;
  return JSON.stringify(show).length <= inlineBytesMax ? question : { ...question, show: { preview: previewOf(show) } };
}

/**
 * How a run that is held goes on: a pause is lifted, and nothing else; a person extends the limits that hold it; or one
 * of them was, by the answer to its question, which leaves others as they are.
 */
type Release = 'pause' | 'limits' | 'answered';

export class Control {
  /** Set once the run's result is known; from then on nothing can be asked of it. */
  ended: RunStatus | null = null;
  cancelled = false;
  /** How often the run was told that an event it waits for may be there. */
  heard = 0;
  readonly current = new Map<string, string>();
  readonly around: Around;
  private readonly recent: RunEvent[] = [];
  private readonly walk: Walk;
  readonly updates: Updates;
  readonly agents: Agents;
  private readonly admission: Admission;

  constructor(walk: Walk) {
    this.agents = new Agents(walk.input.handle);
    this.walk = walk;
    this.around = new Around(walk);
    this.admission = new Admission(walk);
    this.updates = new Updates(walk, this.admission);
  }

  remember(event: RunEvent): void {
    // Loops and parallel steps may end inside a segment, which this never hears of.
    const isLeaf = event.type === 'step-started' && event.step !== 'loop' && event.step !== 'parallel';
    if (isLeaf) this.current.set(event.key, event.label);
    if (event.type === 'step-finished') this.current.delete(event.key);
    this.showQuestion(event);
    this.recent.push(
      event.type === 'asked' || event.type === 'reminded' ? { ...event, question: told(event.question) } : event,
    );
    if (this.recent.length > traceKeptMax) this.recent.shift();
  }

  /** With a question open a run is `paused`, whatever else goes on in it: it needs somebody. */
  private showQuestion(event: RunEvent): void {
    const { position } = this.walk;
    if (event.type === 'asked') {
      if (position.questions.length === 1 && position.paused === null) this.showStatus('paused');
    } else if (event.type === 'answered' || event.type === 'expired' || event.type === 'withdrawn') {
      if (event.open === 0 && !event.held && this.ended === null) this.showStatus('running');
    }
  }

  private showStatus(status: RunStatus): void {
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.status, value: status }]);
  }

  state(): RunState {
    const { position, input } = this.walk;
    return {
      handle: input.handle,
      status: this.ended ?? (position.paused || position.questions.length > 0 ? 'paused' : 'running'),
      reason: waitsFor(this.walk),
      stopping: position.stopping,
      iteration: position.loop.pass,
      steps: position.steps,
      current: Array.from(this.current, ([key, label]) => ({ key, label })),
      startedAt: input.startedAt,
      questions: position.questions.map((question) => told(question)),
      models: openModels(position).map(({ key }) => key),
      told: (position.told ?? []).map(({ id, key, by }) => ({ id, key, by })),
    };
  }

  pause(reason: string, by?: string): RunState {
    const { position, host } = this.walk;
    if (position.paused === null) this.hold(holdOf(reason, host.now(), by));
    else if (holdBesides(position.paused, { reason, by })) this.holdOn(position.paused);
    return this.state();
  }

  private pauseWithParent(): RunState {
    const { position, host } = this.walk;
    if (position.paused === null) this.hold(holdWithParent(host.now()));
    else position.paused.around ??= 'besides';
    return this.state();
  }

  private hold(hold: Hold): void {
    const { position, host } = this.walk;
    if (position.stopping) return;
    position.paused = hold;
    record(this.walk, { type: 'paused', key: '', reason: hold.reason });
    this.showStatus('paused');
    this.tellNested('pause');
    this.agents.handBack();
    host.suspended();
  }

  /** Held on, for another reason. */
  private holdOn({ reason }: Hold): void {
    record(this.walk, { type: 'paused', key: '', reason });
    this.walk.host.suspended();
  }

  /** Nobody who only lifts a pause lets it go on from there. */
  holdAtLimit(reason: string): void {
    const { position } = this.walk;
    this.pause(reason);
    if (position.paused !== null) position.paused.atLimit = true;
  }

  resume(how: Release = 'pause'): RunState {
    const { position, host } = this.walk;
    if (position.paused !== null && !(how === 'pause' && this.isHeldAtLimit())) {
      if (how === 'limits') withdrawLimits(this.walk);
      position.pausedMs += host.now() - position.paused.since;
      position.paused = null;
      const open = position.questions.length;
      record(this.walk, { type: 'resumed', key: '', ...(open === 0 ? {} : { open }) });
      if (open === 0) this.showStatus('running');
      if (!position.stopping) this.tellNested('resume', how === 'limits');
      host.suspended();
    }
    return this.state();
  }

  /** `by`, who is no person, lifts no more than what it has paused. */
  private resumeFor(by: string | undefined): RunState {
    const { paused } = this.walk.position;
    if (paused === null || by === undefined || letGoOf(paused)) return this.resume();
    this.holdOn(paused);
    return this.state();
  }

  /** A person's word to the run around it is said of every hold; another lifts what came from there. */
  private resumeWithParent(extendsLimits: boolean): RunState {
    const { paused } = this.walk.position;
    if (extendsLimits) return this.resume('limits');
    return paused === null || letGoWithParent(paused) ? this.resume() : this.state();
  }

  stop(): RunState {
    const { position } = this.walk;
    if (!position.stopping) {
      // Nested runs are not told to go on before they are told to stop.
      position.stopping = true;
      this.resume('limits');
      this.tellNested('stop');
      this.agents.handBack();
    }
    return this.state();
  }

  /** Registers the handlers; called once, before the first step. */
  listen(): void {
    const { pause, resume, stop } = UPDATES;
    this.updates.on<RunState, [string, string?]>(
      pause,
      (reason, by) => this.say('pause', () => this.pause(reason, by)),
      {
        validator: (reason) => {
          this.refuseEnded('pause');
          const fault = depthFault(reason, 'the reason of the pause');
          if (fault !== null) throw ApplicationFailure.nonRetryable(fault.message, fault.code);
        },
        description: 'Hold the run before its next step',
      },
    );
    this.updates.on<RunState, [boolean?, string?]>(
      resume,
      (extendsLimits, by) =>
        lastInTurn(
          this.walk,
          () => this.refuseResume(extendsLimits, by),
          () => (extendsLimits === true ? this.resume('limits') : this.resumeFor(by)),
        ),
      {
        validator: (extendsLimits, by) => this.refuseResume(extendsLimits, by),
        description: 'Let a held run go on; at a limit only if it is extended',
      },
    );
    this.updates.on<RunState, []>(stop, () => this.say('stop', () => this.stop()), {
      validator: () => this.refuseEnded('stop'),
      description: 'End the run after the step under way',
    });
    this.updates.on<AnswerReply, [AnswerRequest]>(
      ANSWER,
      (request) =>
        lastInTurn(
          this.walk,
          () => this.refuse(request),
          () => this.answer(request),
        ),
      {
        validator: (request: AnswerRequest) => this.refuse(request),
        description: 'Answer what the run asks',
      },
    );
    this.listenToSignals();
    this.around.listen(this.admission);
    setHandler(defineQuery<RunState>(QUERIES.status), () => this.state(), { description: 'What the run is doing' });
    setHandler(defineQuery<RunEvent[]>(QUERIES.trace), () => [...this.recent], { description: 'Its latest events' });
    setHandler(defineQuery<ReturnType<Messages['position']>>(QUERIES.position), () => this.walk.position, {
      description: 'Where it stands, as the value it would continue from',
    });
    this.updates.complete();
    answerBetweenLocalActivities(this.walk, this.admission);
  }

  private listenToSignals(): void {
    setHandler(defineSignal<unknown[]>(SIGNALS.control), async (...received) => {
      const args = this.admission.takeSignal(SIGNALS.control, received);
      if (args === null) return;
      const [verb, word, extendsLimits] = args as ControlWord;
      await lastInTurn(
        this.walk,
        () => undefined,
        () => this.hear(verb, word, extendsLimits),
      );
    });
    setHandler(defineSignal<unknown[]>(SIGNALS.event), (...received) => {
      if (this.admission.readSignal(SIGNALS.event, received) !== null) this.heard += 1;
    });
  }

  /** Checked again when its turn comes: the run may have ended meanwhile. */
  private say(verb: ControlVerb, work: () => RunState): Promise<RunState> {
    return lastInTurn(this.walk, () => this.refuseEnded(verb), work);
  }

  private refuseEnded(verb: ControlVerb): void {
    if (this.ended === null) return;
    const message = `${this.walk.input.handle} has ended (${this.ended}); there is nothing to ${verb}`;
    throw ApplicationFailure.nonRetryable(message, 'RUN_ENDED');
  }

  private isHeldAtLimit(): boolean {
    return this.walk.position.paused?.atLimit === true;
  }

  private refuseResume(extendsLimits: boolean | undefined, by: string | undefined): void {
    this.refuseEnded('resume');
    if (extendsLimits === true || !this.isHeldAtLimit()) {
      this.refuseLifting(by);
      return;
    }
    const { handle } = this.walk.input;
    const message = `${handle} is held at a limit, and a person extends it: "sentinel resume ${handle}", or an answer to what it asks`;
    throw ApplicationFailure.nonRetryable(message, 'HELD_AT_LIMIT');
  }

  private refuseLifting(by: string | undefined): void {
    const { position, input } = this.walk;
    if (by === undefined || position.paused === null || position.paused.by === by) return;
    const message = `${input.handle} was paused by somebody else (${previewOf(position.paused.reason)}), and goes on by a person's word: "sentinel resume ${input.handle}"`;
    throw ApplicationFailure.nonRetryable(message, 'RIGHTS_EXCEEDED');
  }

  private refuse(request: AnswerRequest): void {
    if (this.ended !== null && firstAnswer(this.walk, request) === null) {
      throw ApplicationFailure.nonRetryable(
        `${this.walk.input.handle} has ended (${this.ended}); nothing waits for an answer`,
        'RUN_ENDED',
      );
    }
    const refusal = refusalOf(this.walk, request);
    if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  }

  /** A form is held against the data outside workflow code, which can compile no schema. */
  private async answer(request: AnswerRequest): Promise<AnswerReply> {
    const form = this.walk.position.questions.find(({ id }) => id === request.id)?.form ?? null;
    if (form !== null && request.choice === 'approve') {
      const finding = await askLocally<string | null>(
        this.walk,
        CHECK_FORM,
        [form, request.data ?? null],
        answerOptions,
      );
      const refusal = finding === null ? null : unfit(request.id, finding);
      if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
      // It may have been answered, or have expired, meanwhile.
      this.refuse(request);
    }
    const reply = takeAnswer(this.walk, request);
    if (!reply.already && limitAsked(reply.id) !== null) this.goOn(reply.answer.choice);
    this.walk.host.suspended();
    return reply;
  }

  /** What the answer at a limit does to the run that is held there. */
  private goOn(choice: Choice): void {
    if (choice === 'stop') this.stop();
    else this.resume('answered');
  }

  /** Words to another run are not delivered in the order they were said in. */
  private hear(verb: ControlVerb, word: number | undefined, extendsLimits: boolean | undefined): void {
    const { position } = this.walk;
    if (this.ended !== null || (word !== undefined && word < (position.heardFromParent ?? 0))) return;
    if (word !== undefined) position.heardFromParent = word;
    this.apply(verb, extendsLimits);
  }

  private apply(verb: ControlVerb, extendsLimits: boolean | undefined): RunState {
    switch (verb) {
      case 'pause':
        return this.pauseWithParent();
      case 'resume':
        return this.resumeWithParent(extendsLimits === true);
      case 'stop':
        return this.stop();
      default:
        return verb satisfies never;
    }
  }

  /** A nested run may end while the signal is on its way: then there is nobody to tell. */
  private tellNested(verb: ControlVerb, extendsLimits = false): void {
    const { position } = this.walk;
    position.saidToNested = (position.saidToNested ?? 0) + 1;
    for (const handle of [...this.around.nested, ...position.detached]) {
      getExternalWorkflowHandle(workflowIdOf(handle))
        .signal(
          SIGNALS.control,
          controlMessage(verb, position.saidToNested, ...(extendsLimits ? ([true] as const) : [])),
        )
        .catch(() => undefined);
    }
  }
}
