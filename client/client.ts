/**
 * The typed client: starts runs, watches them and steers them. The command line is made of it.
 *
 *     const client = new SentinelClient();
 *     const { handle } = await client.start(definition, { project: '/path/to/project' });
 *     for await (const { event } of client.follow(handle)) console.log(event.type, event.key);
 *     const { outcome, outputs } = await client.result(handle);
 *     await client.close();
 *
 * Services that are ours and not up are started by the first call that needs them, unless `startsServices`
 * is false.
 */
import { isAbsolute } from 'node:path';
import type { FailingRun, QueuedStep } from './lookup/run-report.ts';
import type { StepChanges } from '../operations/checkpoints/changes.ts';
import type { Undone, UndoRequest } from '../operations/checkpoints/undo.ts';
import type { Catalogue } from '../language/catalogue.ts';
import { valueFault, type Json, type JsonObject } from '../language/json.ts';
import type { Definition } from '../language/model.ts';
import type { EditReply, EditRequest, StepList } from '../interpreter/edits.ts';
import type { Paused, RunEvent } from '../language/events/run-event.ts';
import { defined } from '../language/defined.ts';
import type { InboxItem, Run, RunQuery } from '../prisma/store/contract/contract.ts';
import type { Incident, IncidentQuery } from '../prisma/store/contract/incident-contract.ts';
import type { CostQuery, Costs } from '../prisma/store/contract/models/spending-contract.ts';
import { everyEvent } from '../prisma/store/runs/every-event.ts';
import { workflowIdOf, type ControlVerb, type RunState } from '../workflows/messages/messages.ts';
import type { Cancelled, CancelOptions } from './cancel-run.ts';
import { ClientError, refuseFault } from '../runs/client-error.ts';
import { givenHandleFault } from '../runs/handles.ts';
import { asClientWould } from './contract/as-client-error.ts';
import { putCassette } from './cassettes/stored-cassette.ts';
import { runAt } from './lookup/run-at.ts';
import { connectionsOf, type Connections } from './connect.ts';
import {
  followLive,
  followRun,
  type FollowedEvent,
  type FollowedPiece,
  type FollowOptions,
} from './follow/follow-run.ts';
import { untilLost, type FollowWith } from './follow/until-lost.ts';
import { isWithinStep, refuseStep, starterHere } from './rights/within-step.ts';
import { noSuchRun } from './lookup/no-such-run.ts';
import { reportOf, saidOf, webUrlOf, type RunReport } from './lookup/run-report.ts';
import { samplesOf, type Sample, type SampleQuery } from '../operations/samples/samples.ts';
import { transcriptsOf, type Transcript } from './lookup/transcripts.ts';
import type {
  Started,
  StartOptions,
  Retried,
  RetryOptions,
  AnsweredQuestion,
  AnswerOptions,
  TellOptions,
  ToldModel,
  ConnectOptions,
  ExecuteOptions,
  OnOptions,
} from './contract/requests.ts';
import type { KeptEvent } from '../prisma/store/contract/event-contract.ts';
import type { Performing } from './perform.ts';
import type { EmitOptions, Emitted } from './triggers/outside-event.ts';

export type { StepChanges } from '../operations/checkpoints/changes.ts';
export type { Undone } from '../operations/checkpoints/undo.ts';
export type { Cancelled } from './cancel-run.ts';
export { ClientError } from '../runs/client-error.ts';
export type { FollowedEvent, FollowedPiece, FollowOptions } from './follow/follow-run.ts';
export type { Transcript } from './lookup/transcripts.ts';
export type { FailingRun, RunReport } from './lookup/run-report.ts';
export type { CancelOptions } from './cancel-run.ts';
export type { KeptEvent } from '../prisma/store/contract/event-contract.ts';
export type {
  AnsweredQuestion,
  AnswerOptions,
  ExecuteOptions,
  Forced,
  ForcedRun,
  OnOptions,
  Retried,
  RetryOptions,
  Started,
  StartOptions,
  TellOptions,
  ToldModel,
} from './contract/requests.ts';
export type { EmitOptions, Emitted } from './triggers/outside-event.ts';

export interface InboxQuery {
  persona?: string;
  /** Only items of this run and of runs nested in it. */
  handle?: string;
  /** Include answered questions and items marked as seen. */
  all?: boolean;
}

/** The edit as the run applied it. `handle`: the run that was edited. */
export interface EditedRun extends EditReply {
  handle: string;
}

export class SentinelClient {
  readonly #connections: Connections;

  constructor(options: ConnectOptions = {}) {
    this.#connections = connectionsOf(this, options);
  }

  /**
   * Starts a run. The definition comes from `readDefinition`, from the builder, or is an object as a file would hold it:
   * it is read as a file is. Starts the services if they are not up. Throws `DEFINITION_INVALID`, with all problems, and
   * `HANDLE_TAKEN` if another run has the handle.
   */
  async start(definition: Definition, options: StartOptions): Promise<Started> {
    refuseRelative(options.project);
    const { origin, handle } = options;
    if (origin !== undefined && origin.type !== 'saved')
      throw new ClientError('USAGE', 'What started a run is for the engine to say: leave "origin" out.');
    const startedBy = await starterHere(options.startedBy);
    if (handle !== undefined) refuseFault(givenHandleFault(handle, startedBy));
    const { host: _host, cassette: text, known, policy, ...given } = options;
    const { givenPolicies } = await import('../runs/policies.ts');
    const policies = givenPolicies(policy);
    const [parts, { startRun }, { readForStart }] = await Promise.all([
      this.#connections.runServices(options.host, options.project),
      import('../runs/start-run.ts'),
      import('./reading/read-for-start.ts'),
    ]);
    const { persona = 'local', project } = given;
    const read = await readForStart(parts, definition, { persona, project, known });
    const cassette = text === undefined ? undefined : await putCassette(parts.store, text);
    const asked = {
      ...read,
      ...given,
      inputs: given.inputs ?? {},
      persona,
      startedBy,
      policies,
    };
    const started = await asClientWould(startRun(parts, { ...asked, ...defined({ cassette }) }));
    if (!started.isNew) {
      throw new ClientError(
        'HANDLE_TAKEN',
        `The handle "${started.handle}" is taken by another run: choose another one (--id on the command line), or leave it out.`,
      );
    }
    return { handle: started.handle, workflowId: started.workflowId, webUrl: this.webUrl(started.handle) };
  }

  /**
   * Starts a new run with the results of an old one so far. It begins at the failed items of a list and keeps the results
   * of the others, or at the step that failed. Throws `FORK_REFUSED`, and `USAGE` if `at` has to name one of several lists.
   */
  async retry(handle: string, options: RetryOptions = {}): Promise<Retried> {
    const run = await this.find(handle);
    const [parts, { retryRun }] = await Promise.all([
      this.#connections.runServices(options.host, run.project),
      import('./history/retry-run.ts'),
    ]);
    const forked = await retryRun(parts, run, await this.events(handle), options);
    return { ...forked, workflowId: workflowIdOf(forked.handle), webUrl: this.webUrl(forked.handle) };
  }

  /** How a run stands or ended. Throws `RUN_NOT_FOUND`. */
  async status(handle: string): Promise<RunReport> {
    const run = await this.find(handle);
    const said = await saidOf(await this.#connections.store(), run);
    return reportOf(run, this.#connections.config, Date.now(), { held: await this.#heldBy(run), ...said });
  }

  /** Why a run is paused; null if it is not paused, or only waits for an answer. */
  async heldBy(handle: string): Promise<Paused | null> {
    return this.#heldBy(await this.find(handle));
  }

  async #heldBy({ handle, status }: Run): Promise<Paused | null> {
    if (status !== 'paused') return null;
    const newest = await (await this.#connections.store()).events.newest(handle, ['paused', 'resumed']);
    return newest?.type === 'paused' ? newest : null;
  }

  /** The stored record of a run. Throws `RUN_NOT_FOUND`. */
  async find(handle: string): Promise<Run> {
    const store = await this.#connections.store();
    const run = await store.runs.find(handle);
    if (run === null) throw await noSuchRun(store, handle);
    return run;
  }

  /** Runs, newest first, nested runs included. */
  async list(query: RunQuery = {}): Promise<Run[]> {
    return (await this.#connections.store()).runs.list(query);
  }

  /**
   * Of these runs, those that stand still because their workflow task fails each time, three times or more: Temporal
   * repeats it until a mended worker takes it. Empty where Temporal does not answer at once.
   */
  async failing(runs: readonly Pick<Run, 'handle' | 'status'>[]): Promise<Map<string, FailingRun>> {
    if (!runs.some(({ status }) => status === 'running')) return new Map();
    const { failingRuns } = await import('./lookup/failing-runs.ts');
    return failingRuns({ config: this.#connections.config, client: () => this.#connections.client() }, runs);
  }

  /** Its steps that wait for a place on a queue of their own ([systems](systems.md#queues)). Empty where Temporal does not answer at once. */
  async queued({ handle, status }: Pick<Run, 'handle' | 'status'>): Promise<QueuedStep[]> {
    if (status !== 'running') return [];
    const { queuedStepsOf } = await import('./lookup/queued-steps.ts');
    return queuedStepsOf(this.#connections.config, handle);
  }

  /** Yields the events of a run and of runs nested in it: first those so far, then each as it happens, until the run ends. */
  async *follow(handle: string, options: FollowOptions = {}): AsyncGenerator<FollowedEvent> {
    yield* this.#untilLost(handle, options, followRun);
  }

  /** Like `follow`, and also yields the text of models while they write it. */
  async *followLive(handle: string, options: FollowOptions = {}): AsyncGenerator<FollowedEvent | FollowedPiece> {
    yield* this.#untilLost(handle, options, followLive);
  }

  async *#untilLost<Item>(handle: string, options: FollowOptions, followWith: FollowWith<Item>): AsyncGenerator<Item> {
    await this.find(handle);
    const parts = { store: await this.#connections.store(), client: () => this.#connections.client() };
    yield* untilLost(parts, handle, options, followWith);
  }

  /** The events of one run so far. */
  async events(handle: string): Promise<RunEvent[]> {
    const store = await this.#connections.store();
    const events: RunEvent[] = [];
    for await (const event of everyEvent(store, handle)) events.push(event);
    return events;
  }

  /** The conversations of a run with models, or that of one step. Throws `STEP_NOT_FOUND` if the step has none. */
  async transcripts(handle: string, key?: string): Promise<Transcript[]> {
    await this.find(handle);
    return transcriptsOf(await this.#connections.store(), handle, key);
  }

  /** Yields conversations with models as training samples, run by run. Throws `RUN_NOT_FOUND`. */
  async *samples(query: SampleQuery = {}): AsyncGenerator<Sample> {
    for (const handle of query.handles ?? []) await this.find(handle);
    yield* samplesOf(await this.#connections.store(), query);
  }

  /** Sums what models cost. Throws `RUN_NOT_FOUND`. */
  async costs(query: CostQuery): Promise<Costs> {
    if (query.handle !== undefined) await this.find(query.handle);
    return (await this.#connections.store()).spending.sum(query);
  }

  /** Failures, escalations, stuck loops and limits of runs, each as a sentence. Throws `RUN_NOT_FOUND`. */
  async incidents(query: IncidentQuery = {}): Promise<Incident[]> {
    if (query.handle !== undefined) await this.find(query.handle);
    return (await this.#connections.store()).incidents.find(query);
  }

  /** The files that a run and the runs nested in it changed, step by step. Throws `UNDO_REFUSED`. */
  async changes(handle: string, options: { key?: string; patches?: boolean } = {}): Promise<StepChanges[]> {
    await this.find(handle);
    const [store, { changesOfRun }] = await Promise.all([this.#connections.store(), import('./undo-run.ts')]);
    return changesOfRun(store, handle, options);
  }

  /** Restores the files that a run changed, with `refs` also its git repository; the run must have ended or be paused. Throws `UNDO_REFUSED`. */
  async undo(handle: string, options: Omit<UndoRequest, 'handle'> = {}): Promise<Undone> {
    await refuseStep('undo', { force: options.force });
    const run = await this.find(handle);
    const [store, { undoRunOf }] = await Promise.all([this.#connections.store(), import('./undo-run.ts')]);
    return undoRunOf(store, run, options);
  }

  /** Waits until the run has ended, and returns its report. */
  async result(handle: string, options: { signal?: AbortSignal } = {}): Promise<RunReport> {
    for (;;) {
      const report = await this.status(handle);
      // The end that a lost worker had recorded is taken back, and comes again from the worker that goes on.
      if (report.outcome !== null || options.signal?.aborted === true) return report;
      for await (const _ of this.follow(handle, { ...options, nested: false }));
    }
  }

  /** Pauses a run before its next step. Throws `RUN_ENDED`. */
  pause(handle: string, reason = 'a person paused it', { by }: { by?: string } = {}): Promise<RunState> {
    return this.#update(handle, 'pause', reason, by);
  }

  /**
   * Resumes a paused run. At a limit it grants the same amount once more, which is a person's decision; with
   * `extendsLimits: false` such a run refuses. With `by`, it lifts only a pause that was made with the same `by`.
   * Throws `RUN_ENDED`, `HELD_AT_LIMIT`, `RIGHTS_EXCEEDED`.
   */
  async resume(
    handle: string,
    { extendsLimits = true, by }: { extendsLimits?: boolean; by?: string } = {},
  ): Promise<RunState> {
    await refuseStep('resume');
    return this.#update(handle, 'resume', extendsLimits, by);
  }

  /** Ends a run after the steps that are running. Throws `RUN_ENDED`. */
  stop(handle: string): Promise<RunState> {
    return this.#update(handle, 'stop');
  }

  /** Questions that runs ask, and failures that they report, newest first. */
  async inbox(query: InboxQuery = {}): Promise<InboxItem[]> {
    return (await this.#connections.store()).inbox.list(query);
  }

  /** A question of a run or of a run nested in it. Without an id, the only open one. Throws `QUESTION_UNKNOWN`. */
  async question(handle: string, id?: string): Promise<InboxItem> {
    await this.find(handle);
    const [store, { itemFor }] = await Promise.all([this.#connections.store(), import('./lookup/find-question.ts')]);
    return itemFor(store, handle, id);
  }

  /** Marks reports in the inbox as seen: those to a persona, those of a run, or one by its id. Returns how many. */
  async clearInbox(told: { persona?: string; handle?: string; id?: string }): Promise<number> {
    await refuseStep('inbox clear');
    const { performCommand } = await import('./perform.ts');
    const parts = this.#performing();
    const { persona: personaId, handle, id: itemId } = told;
    const params = defined({ personaId, handle, itemId });
    const by = personaId ?? 'local';
    return (await performCommand<{ seen: number }>(parts, 'inbox/acknowledge', params, { by })).seen;
  }

  /**
   * Publishes an event. It starts the runs whose triggers match it and wakes the runs that wait for it. With
   * `if-up`, services that are not up are not started: the event is then lost, and the result is null.
   */
  async emit(name: string, options: EmitOptions = {}, when: 'always' | 'if-up' = 'always'): Promise<Emitted | null> {
    const { outsideEvent } = await import('./triggers/outside-event.ts');
    const event = outsideEvent(name, options, await isWithinStep());
    const store = await (when === 'if-up' ? this.#connections.storeIfUp() : this.#connections.store());
    return store === null ? null : { name, id: event.id, ...(await store.triggers.publish(event)) };
  }

  /**
   * The events that are published from now on, of a name or a pattern with `*`, in their order; listening begins before
   * this returns. It goes on until `signal` aborts or the loop is left.
   */
  async on(event: string, { handle, after, signal }: OnOptions = {}): Promise<AsyncGenerator<KeptEvent>> {
    const [store, { followPublished }] = await Promise.all([
      this.#connections.store(),
      import('./follow/follow-published.ts'),
    ]);
    const from = after ?? (await store.signals.kept({ limit: 1 })).at(-1)?.position ?? 0;
    const query = { pattern: event, ...defined({ handle }) };
    return followPublished(store, { query, after: from, isOver: async () => false, signal });
  }

  /**
   * Performs a command and gives its result: a quick one at once, in one transaction; any other as the step of a run, to
   * its end. Throws `USAGE` for a command or parameters that there are not, and `COMMAND_FAILED`, whose `details` have the
   * code of the failure.
   */
  async execute<Result extends Json = Json>(
    command: string,
    params: JsonObject = {},
    options: ExecuteOptions = {},
  ): Promise<Result> {
    if (options.project !== undefined) refuseRelative(options.project);
    await refuseStep('command', {}, [command]);
    const { executeCommand } = await import('./execute.ts');
    return (await executeCommand({ client: this, parts: this.#performing() }, command, params, options)) as Result;
  }

  /**
   * Answers a question of a run or of a run nested in it. The id can be left out if exactly one question is open. The
   * id of a nested run's question begins with the keys of the steps that lead to it: `steps.2@1/steps.0@1`. The same
   * answer a second time returns the first; another answer throws `ANSWERED_ALREADY`. Throws `ANSWER_REFUSED` where the
   * question asks others by name. Of a question to several, `missing` says how many have to approve besides.
   */
  async answer(handle: string, answer: AnswerOptions): Promise<AnsweredQuestion> {
    refuseFault(valueFault(answer.data ?? null, 'the data of the answer'));
    await refuseStep('answer', {}, [answer.choice]);
    await this.find(handle);
    const [store, { answerQuestion }] = await Promise.all([this.#connections.store(), import('./answer-question.ts')]);
    const parts = { store, client: () => this.#connections.client(), performing: this.#performing() };
    return answerQuestion(parts, handle, answer);
  }

  /**
   * Sends a message to the model of a running step; the model sees it before its next turn. Throws `NO_MODEL_STEP` if
   * no model step runs, or several do and `step` names none of them.
   */
  async tell(handle: string, text: string, options: TellOptions): Promise<ToldModel> {
    await refuseStep('tell');
    const { stepWithin, tellModel } = await import('./tell-model.ts');
    const at = stepWithin(handle, options.step);
    await this.#refuseEnded(at.handle, 'tell');
    const [store, client] = await Promise.all([this.#connections.store(), this.#connections.client()]);
    return tellModel({ store, client }, at, text, options);
  }

  /** The steps of a run and their state. `at` names a run nested in it by the key of its step: `steps.2@1`. */
  async steps(handle: string, at = ''): Promise<StepList> {
    const { handle: holding } = runAt(handle, at);
    await this.find(holding);
    const [client, { stepsOfRun }] = await Promise.all([this.#connections.client(), import('../runs/steer-run.ts')]);
    return stepsOfRun(client, holding);
  }

  /** Changes a step that has not started. The path in a nested run begins with the key of its step: `steps.2@1/steps.0`. */
  async edit(handle: string, request: EditRequest): Promise<EditedRun> {
    refuseFault(valueFault(request.step ?? null, 'the step of the edit'));
    await refuseStep(`step ${request.op}`);
    const { handle: holding, path } = runAt(handle, request.path);
    await this.#refuseEnded(holding, 'edit');
    const [client, { editRun }] = await Promise.all([this.#connections.client(), import('../runs/steer-run.ts')]);
    return { handle: holding, ...(await editRun(client, holding, { ...request, path })) };
  }

  /**
   * Cancels a run: interrupts its running steps and runs its clean-up. Returns when the run has ended, when the
   * clean-up asks a question, or after a minute. With `force`, the workflows of the run and of the runs nested in it are
   * terminated, and no clean-up runs.
   */
  async cancel(handle: string, options: CancelOptions = {}): Promise<Cancelled> {
    await refuseStep('cancel', { force: options.force });
    if (options.force !== true) return (await import('./cancel-run.ts')).cancelAndSee(this, handle, options.whenTold);
    const { config } = this.#connections;
    const store = await this.#connections.store();
    await store.ping();
    const [client, { cancelByForce }] = await Promise.all([this.#connections.client(), import('./force-cancel.ts')]);
    return cancelByForce({ store, client, config }, handle, options.by ?? 'a person');
  }

  /** Like `cancel`, without waiting for the end. */
  async requestCancel(handle: string): Promise<void> {
    await this.#refuseEnded(handle, 'cancel');
    const [client, { cancelRun }] = await Promise.all([this.#connections.client(), import('../runs/steer-run.ts')]);
    await cancelRun(client, handle);
  }

  /** The commands that definitions of a project can use; without a project, the built-in ones. */
  catalogue(project?: string): Promise<Catalogue> {
    return this.#connections.catalogue(project);
  }

  /** The run in the Temporal Web UI; null if there is no Web UI. */
  webUrl(handle: string): string | null {
    return webUrlOf(handle, this.#connections.config);
  }

  /** Closes the connections. Runs and services go on. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  #performing(): Performing {
    return {
      store: () => this.#connections.store(),
      parts: (host, project) => this.#connections.runServices(host, project),
    };
  }

  async #update(handle: string, verb: ControlVerb, said?: string | boolean, by?: string): Promise<RunState> {
    await this.#refuseEnded(handle, verb);
    const [client, { updateRun }] = await Promise.all([this.#connections.client(), import('../runs/steer-run.ts')]);
    return updateRun(client, handle, verb, said, undefined, by);
  }

  async #refuseEnded(handle: string, verb: string): Promise<void> {
    const run = await this.find(handle);
    if (run.finishedAt === null) return;
    throw new ClientError(
      'RUN_ENDED',
      `${handle} has ended (${run.outcome ?? run.status}); there is nothing to ${verb}.`,
    );
  }
}

/** Relative to what: the worker, which may be on another machine, has a working directory of its own. */
function refuseRelative(project: string): void {
  if (!isAbsolute(project)) throw new ClientError('USAGE', `project is "${project}"; give an absolute path.`);
}
