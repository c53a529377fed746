/**
 * The activities a worker offers: `segment`, `shell`, `emit`, and every command under its own name;
 * one for every other name, too, which says that there is no such command.
 *
 * The workflow id names the run and the activity id is the step's key. A `Failure` becomes an
 * `ApplicationFailure` whose type is its code, and is final: the walk retries a step, not the server.
 * Anything else thrown here is the store being away, or a bug: the server retries it, a bug a few times.
 */
import { activityInfo, Context } from '@temporalio/activity';
import type { Json, JsonObject } from '../language/json.ts';
import type { RunContext, Store } from '../prisma/store/contract/contract.ts';
import { askForGroup } from './local/ask-for-group.ts';
import { askForDay } from './local/days.ts';
import { askForPlace, leavePlace } from './local/places.ts';
import type { CommandContext, RunPort } from '../operations/command.ts';
import { withLeases } from '../operations/leases.ts';
import {
  AGENT,
  ASK_FOR_DAY,
  ASK_FOR_GROUP,
  ASK_FOR_PLACE,
  CHECK_EDIT,
  CHECK_FORM,
  DIGEST,
  EMIT,
  IS_BEHIND,
  LEAVE_DAY,
  LEAVE_PLACE,
  LLM,
  NEXT_EVENT,
  READ_DEFINITION,
  READ_STARTED,
  RESOLVE_ACTION,
  SEGMENT,
  SHELL,
  TIMEOUT_MARGIN_MS,
  WATCH,
  WORKSPACE_END,
  WORKSPACE_FORK,
  WORKSPACES_TAKEN,
  type AgentRequest,
  type EventRequest,
  type GroupAsked,
  type PlaceAsked,
  type ShellRequest,
  type StepOptions,
  type TurnRequest,
} from '../interpreter/contract.ts';
import {
  checkEdit,
  type EditToCheck,
  readGivenDefinition,
  readGivenStart,
  checkForm,
  digestOf,
} from './local/ask-reader.ts';
import { guarded } from './steps/failures.ts';
import type { GivenDefinition } from '../language/read/nested-definition.ts';
import type { Handed } from '../language/read/started-program.ts';
import { publishEvent } from '../operations/events/publish-event.ts';
import { resolveAction, type ActionToResolve } from './steps/resolve-action.ts';
import { maskedError, ownMasker } from '../world/own-keys/own-keys.ts';
import { maskerOfTurn, secretsOf, type Secrets } from '../operations/secrets/secrets.ts';
import { defined } from '../language/defined.ts';
import { turnRequest } from '../interpreter/models/build-turn.ts';
import type { AgentReport, RunInput } from '../interpreter/host.ts';
import type { CommandEffect, TurnEffect, TurnOutcome } from '../interpreter/effect.ts';
import type { ModelFrame } from '../interpreter/position.ts';
import { handleOf } from '../interpreter/keys.ts';
import { keepingIn } from './steps/keeping.ts';
import { once } from './steps/once.ts';
import { performCommand, type CommandParts, type KnownContext } from './steps/perform-command.ts';
import { quickSteps, type AroundStep } from './segment/quick-steps.ts';
import { actingSteps } from './segment/acting-steps.ts';
import { type EndRefused, segmentActivity } from './segment/segment-activity.ts';
import { runLine } from './steps/shell-line.ts';
import type { LeftWorkspaces } from '../interpreter/workspace.ts';
import { workspaceFor, workspaceLeft, workspacesTaken } from './steps/workspace.ts';
import { rootOf } from '../world/confinement/confine.ts';
import { beating } from '../world/processes/beating.ts';
import { type AttemptNow, attemptNow, watchForStandstill } from '../world/processes/overtaken.ts';
import type { KeptProcesses } from '../world/processes/kept/kept-processes.ts';
import type { Models } from '../world/models/open-models.ts';
import type { Shelf } from './turns/cassettes/shelf.ts';
import { CallsSaid } from './turns/calls-said.ts';
import { LiveTurn } from './turns/live/live-turn.ts';
import { runAgent } from './turns/run-agent.ts';
import { runTurn } from './turns/run-turn.ts';
import { watchExecution, type WatchRequest } from '../operations/shell/watch.ts';

export interface ActivityParts extends CommandParts {
  runs: RunPort;
  /** Resolves when what the run has recorded so far is in the store. */
  recorded: (handle: string) => Promise<void>;
  /** Null: model steps fail, and say how to get one. */
  models: Pick<Models, 'resolve' | 'turn'> | null;
  shelf: Shelf;
  /** Processes that outlive this worker; absent: none do. */
  kept?: KeptProcesses | undefined;
  /** Around each quick command of a segment; absent: nothing. */
  around?: AroundStep | undefined;
  /** Ends a run whose record the store refuses; absent: it is tried again for ever. */
  recordRefused?: EndRefused;
  /** Whether segments begin steps that act on the world; absent: they do. */
  beginsInSegments?: boolean;
}

type Activity = (...args: never[]) => Promise<unknown>;

/** How long a look at what an action comes to may take. */
const LOOK_MS = 60_000;

export function createActivities(parts: ActivityParts): Record<string, Activity> {
  const { store, registry, runs, recorded } = parts;
  watchForStandstill();
  const quick = quickSteps({ store, registry, runs, limiter: parts.limiter, days: parts.days, around: parts.around });
  const acting = actingSteps(parts);
  const activities: Record<string, Activity> = {
    [SEGMENT]: segmentActivity({ store, quick, acting, recorded, ...defined({ recordRefused: parts.recordRefused }) }),
    [SHELL]: (request: ShellRequest, options?: StepOptions) =>
      guarded(async () => shell(parts, request, await contextOf(parts, options))),
    [WATCH]: (request: WatchRequest) => guarded(async () => watchExecution(request, await contextOf(parts))),
    [LLM]: (request: TurnRequest, options?: StepOptions) =>
      guarded(async () => askWithin(parts, request, await contextOf(parts, options), { isHeld: true })),
    [AGENT]: (input: RunInput, request: AgentRequest) => guarded(() => agent(parts, input, request)),
    [NEXT_EVENT]: async (request: EventRequest) =>
      store.signals.next({ handle: (await ownRun(store)).handle, ...request }),
    ...turnActivities(parts),
    [DIGEST]: digestOf,
    [CHECK_FORM]: checkForm,
    [CHECK_EDIT]: (...edit: EditToCheck) => checkEdit(registry.catalogue, ...edit),
    [IS_BEHIND]: async (seq: number) => store.journal.isBeyond((await ownRun(store)).handle, seq),
    [READ_DEFINITION]: async (given: GivenDefinition) =>
      readGivenDefinition(store, registry.catalogue, given, await ownRun(store)),
    [READ_STARTED]: async (handed: Handed) => readGivenStart(store, registry.catalogue, handed, await ownRun(store)),
    [RESOLVE_ACTION]: async (asked: ActionToResolve, options?: StepOptions) => {
      const session = store.session();
      const known = await contextOf(parts, options);
      const context = { ...known, session, timeoutMs: LOOK_MS, isCall: options?.call !== undefined };
      try {
        return await resolveAction(registry, asked, context);
      } finally {
        await session.close();
      }
    },
    [WORKSPACE_FORK]: (request: { name: string }, options: StepOptions) =>
      guarded(async () => workspaceFor(request, await contextOf(parts, options))),
    [WORKSPACES_TAKEN]: (request: LeftWorkspaces, options: StepOptions) =>
      guarded(async () => workspacesTaken(request, await contextOf(parts, options))),
    [WORKSPACE_END]: (request: { title: string }, options: StepOptions) =>
      guarded(async () => workspaceLeft(request, await contextOf(parts, options))),
    [EMIT]: (request: { event: string; data: Json }) =>
      guarded(async () => {
        const context = await contextOf(parts);
        const { run, key, attempt } = context;
        const { event: name, data } = request;
        if (attempt === 1) await parts.days?.begin({ persona: run.persona, handle: run.handle, key });
        return once(store, context, (session) => publishEvent(store, session, { handle: run.handle, key, name, data }));
      }),
  };
  for (const name of registry.names()) activities[name] = commandActivity(parts, () => name);
  // Temporal asks this for every name it finds no activity for: a command that this worker does not
  // have fails its step. Without it such a step would be tried again for ever.
  activities['default'] = commandActivity(parts, () => activityInfo().activityType);
  return Object.fromEntries(Object.entries(activities).map(([name, activity]) => [name, withoutOwnKeys(activity)]));
}

/** What an attempt was broken by is in the history, too, and no failure of ours: it may quote anything. */
function withoutOwnKeys(activity: Activity): Activity {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      throw maskedError(error);
    }
  };
}

async function shell(parts: ActivityParts, request: ShellRequest, known: KnownContext): Promise<Json> {
  const { begun = 0, isCancelled = false } = request;
  const { run, key, attempt } = known;
  if (!isCancelled) {
    const isHandedOver = begun > 0 && attempt === 1;
    const context = { ...known, attempt: attempt + begun, isHandedOver };
    if (context.attempt === 1) await parts.days?.begin({ persona: run.persona, handle: run.handle, key });
    return beating(context, () => runLine(request, context, parts.checkpoints));
  }
  await parts.kept?.end(run.handle, key);
  await parts.checkpoints?.end({ handle: run.handle, key, project: rootOf(known) });
  return null;
}

function commandActivity(parts: ActivityParts, nameOf: () => string): Activity {
  return (params: JsonObject, options?: StepOptions) =>
    guarded(async () => {
      const context = await contextOf(parts, options);
      // One that is silent for long is not one whose worker is gone: it has the time that its step gives it.
      const asked = { command: nameOf(), params, call: options?.call };
      return beating(context, () => withLeases(context, (leased) => performCommand(parts, asked, leased)));
    });
}

/** A model may think for minutes without a word. */
async function askWithin(
  parts: ActivityParts,
  request: TurnRequest,
  context: KnownContext,
  { until, isHeld = false }: { until?: AbortSignal | undefined; isHeld?: boolean } = {},
): Promise<TurnOutcome> {
  const { run, key, attempt, timeoutMs, secrets, reach, confinement } = context;
  const signal = until ?? context.signal;
  const { conversation, turn: number, tokensBefore: tokensSoFar = 0 } = request;
  // Several answers of one step have a log each.
  const live = liveTurn(parts, context, conversation.startsWith(`${key}/`) ? conversation : key, secrets);
  return beating(
    context,
    () =>
      live.during(
        runTurn(parts, request, {
          run,
          asker: key,
          attempt: `${key} ${attempt}`,
          ...(isHeld ? { heldTo: run.persona } : {}),
          byModel: confinement?.byModel,
          root: confinement?.root,
          timeoutMs,
          signal,
          live,
          masker: maskerOfTurn(secrets, reach?.env),
        }),
      ),
    () => ({ turn: number, tokensSoFar, ...live.progress }),
  );
}

/** Those who follow the run hear what the model says. */
const liveTurn = (
  { store }: ActivityParts,
  { run, attempt }: CommandContext,
  key: string,
  { logs }: Secrets,
): LiveTurn => new LiveTurn({ logs: store.logs, label: { handle: run.handle, key, attempt }, masker: logs });

async function agent(parts: ActivityParts, input: RunInput, request: AgentRequest): Promise<AgentReport> {
  const context = await contextOf(parts);
  const { run, attempt, signal } = context;
  const under: { said: JsonObject; turn?: { turn: number; tokensSoFar: number; live: LiveTurn } } = { said: {} };
  /** Its calls may have been begun by an attempt before. */
  let answeredBefore = 0;
  const calls = new CallsSaid(context.resumed);
  const segment = {
    store: parts.store,
    recorded: parts.recorded,
    attempt,
    signal,
    turn: async (effect: TurnEffect): Promise<Json> => {
      const { key, timeoutMs, turn: number, tokensBefore: tokensSoFar } = effect;
      const secrets = await secretsOf(parts.store, effect.secrets);
      const live = liveTurn(parts, context, key, secrets);
      under.turn = { turn: number, tokensSoFar, live };
      const known = (): void => {
        answeredBefore = number;
      };
      const masker = maskerOfTurn(secrets, effect.reach?.env);
      const { byModel, root } = effect.confinement ?? {};
      const place = {
        run,
        asker: key,
        attempt: `${key} ${attempt}`,
        heldTo: run.persona,
        byModel,
        root,
        timeoutMs,
        signal,
        known,
        live,
        masker,
      };
      return (await live.during(runTurn(parts, turnRequest(effect), place))) as unknown as Json;
    },
    call: (effect: CommandEffect) => {
      const isFirst = effect.call?.turn !== answeredBefore || effect.call.tries !== undefined;
      const called = calls.contextOf(effect.key, { ...context, attempt: isFirst ? 1 : attempt });
      return performCall(parts, effect, called).finally(() => calls.end(effect.key));
    },
    said: ({ made, usd }: ModelFrame) => {
      under.said = { calls: made.length, usd };
    },
  };
  return beating(
    context,
    () => runAgent(segment, input, request),
    () => {
      const { live, ...begun } = under.turn ?? {};
      return { ...under.said, ...begun, ...live?.progress, ...calls.said };
    },
  );
}

/** A call of an agent segment, as the activity of the command performs it. */
async function performCall(parts: ActivityParts, effect: CommandEffect, context: CommandContext): Promise<Json> {
  const { key, timeoutMs, confinement, reach, starts } = effect;
  const secrets = await secretsOf(parts.store, effect.secrets);
  const known = { ...context, key, timeoutMs, secrets, ...defined({ confinement, reach, starts }) };
  // What the command itself has said of how far it is stays said while it asks a model.
  const asking = { ...known, heartbeat: () => known.heartbeat() };
  const turn: CommandContext['turn'] = (request, until) => askWithin(parts, request, asking, { until });
  return withLeases({ ...known, turn }, (leased) => performCommand(parts, effect, leased));
}

async function contextOf(parts: ActivityParts, options?: StepOptions): Promise<KnownContext> {
  const info = activityInfo();
  const attempt = attemptNow(info.currentAttemptScheduledTimestampMs);
  const { cancellationSignal } = Context.current();
  const resumed = (info.heartbeatDetails ?? null) as Json;
  return {
    run: await ownRun(parts.store),
    resumed,
    key: info.activityId,
    attempt: info.attempt,
    store: parts.store,
    session: parts.store.session(),
    runPort: parts.runs,
    turn: async (request, until) => askWithin(parts, request, await contextOf(parts, options), { until }),
    signal: cancellationSignal,
    checkAttempt: attempt.check,
    timeoutMs: info.startToCloseTimeoutMs - TIMEOUT_MARGIN_MS,
    now: () => Date.now(),
    heartbeat: beat(resumed, attempt),
    secrets: await secretsOf(parts.store, options?.secrets),
    ...keepingIn(parts.kept, cancellationSignal),
    ...(parts.checkpoints === null ? {} : { checkpoints: parts.checkpoints }),
    ...(options?.confinement === undefined ? {} : { confinement: options.confinement }),
    ...(options?.reach === undefined ? {} : { reach: options.reach }),
    ...(options?.starts === undefined ? {} : { starts: options.starts }),
    ...(options?.resolved === undefined ? {} : { resolved: options.resolved }),
  };
}

/** What is said stays said until something else is: a beat alone would take it from the next attempt. */
function beat(resumed: Json, { sign }: AttemptNow): CommandContext['heartbeat'] {
  const activity = Context.current();
  let said = resumed;
  return (details = said) => {
    said = details;
    sign();
    activity.heartbeat(ownMasker().json(details));
  };
}

/** A run's turn in its group, and among the runs of its persona that are at work. */
function turnActivities({ store, runs, recorded }: ActivityParts): Record<string, Activity> {
  return {
    [ASK_FOR_GROUP]: async (asked: GroupAsked) => {
      // The run's row; and what an attempt that was lost had recorded, which may say that the run has ended.
      await recorded(ownHandle());
      return askForGroup({ store, runs }, await ownRun(store), asked);
    },
    [ASK_FOR_PLACE]: async (asked: PlaceAsked) => {
      await recorded(ownHandle());
      return askForPlace(store, await ownRun(store), asked);
    },
    [ASK_FOR_DAY]: async () => askForDay(store, await ownRun(store)),
    [LEAVE_DAY]: async () => {
      await store.personaDays.go(ownHandle());
      return null;
    },
    [LEAVE_PLACE]: async () => leavePlace({ store, runs }, await ownRun(store)),
  };
}

const ownHandle = (): string => handleOf(activityInfo().workflowExecution?.workflowId ?? '');

/** Retryable: the row is written before the run's first step, but another worker may not have seen it yet. */
async function ownRun(store: Store): Promise<RunContext> {
  const handle = ownHandle();
  const run = await store.runs.context(handle);
  if (run === null) throw new Error(`the store has no run "${handle}" yet`);
  return run;
}
