/**
 * The activities a worker offers: `segment`, `shell`, `emit`, and every command under its own name;
 * one for every other name, too, which says that there is no such command.
 *
 * The workflow id names the run and the activity id is the step's key. A `Failure` becomes an
 * `ApplicationFailure` whose type is its code, and is final: the walk retries a step, not the server.
 * Anything else thrown here is the store being away, or a bug: the server retries it, a bug a few times.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { OpenSession, RunContext, Store } from '../prisma/store/contract/contract.ts';
import { referredDefinitions } from '../prisma/store/values/referred-definitions.ts';
import type { StepCheckpoints } from '../operations/checkpoints/step-checkpoints.ts';
import { askForGroup } from './local/ask-for-group.ts';
import { checkpointed, filesOf, writesFiles } from './steps/checkpointed.ts';
import type { CommandContext, RunPort } from '../operations/command.ts';
import { withLeases } from '../operations/leases.ts';
import type { Registry } from '../operations/registry.ts';
import {
  AGENT,
  ASK_FOR_GROUP,
  CHECK_EDIT,
  CHECK_FORM,
  DIGEST,
  EMIT,
  IS_BEHIND,
  LLM,
  NEXT_EVENT,
  READ_DEFINITION,
  READ_STARTED,
  RESOLVE_ACTION,
  SEGMENT,
  SHELL,
  TIMEOUT_MARGIN_MS,
  WATCH,
  type AgentRequest,
  type SegmentRequest,
  type SegmentResult,
  type EventRequest,
  type GroupAsked,
  type ShellRequest,
  type StepOptions,
  type TurnRequest,
} from '../interpreter/contract.ts';
import { checkEdit, type EditToCheck, readGivenDefinition, checkForm, digestOf } from './local/ask-reader.ts';
import { guarded } from './steps/failures.ts';
import type { GivenDefinition } from '../language/read/nested-definition.ts';
import { readStarted, referring, type Handed } from '../language/read/started-program.ts';
import { publishEvent } from '../operations/events/publish-event.ts';
import { resolveAction, type ActionToResolve } from './steps/resolve-action.ts';
import { maskedError, ownMasker } from '../world/own-keys/own-keys.ts';
import {
  maskerOfTurn,
  secretsOf,
  secretsOfCall,
  unsealedFor,
  withMaskedFailures,
  type Secrets,
} from '../operations/secrets/secrets.ts';
import { findCommand } from '../language/catalogue.ts';
import { defined } from '../language/defined.ts';
import { turnRequest } from '../interpreter/models/build-turn.ts';
import type { AgentReport, RunInput } from '../interpreter/host.ts';
import type { CommandEffect, TurnEffect, TurnOutcome } from '../interpreter/effect.ts';
import type { ModelFrame } from '../interpreter/position.ts';
import { handleOf } from '../interpreter/keys.ts';
import { once, reading } from './steps/once.ts';
import { Spent, usesModels } from './steps/spent.ts';
import { quickSteps, type AroundStep } from './segment/quick-steps.ts';
import { runSegment } from './segment/run-segment.ts';
import { beating } from '../world/processes/beating.ts';
import { runShell, type ShellResult } from '../operations/shell/run-shell.ts';
import { withValueFiles } from '../operations/shell/value-files.ts';
import type { Models } from '../world/models/open-models.ts';
import { useOf, type Limiter } from './limits/limiter.ts';
import type { Shelf } from './turns/cassettes/shelf.ts';
import { LiveTurn } from './turns/live/live-turn.ts';
import { runAgent } from './turns/run-agent.ts';
import { runCall } from './turns/run-call.ts';
import { runTurn } from './turns/run-turn.ts';
import { watchExecution, type WatchRequest } from '../operations/shell/watch.ts';

export interface ActivityParts {
  store: Store;
  registry: Registry;
  runs: RunPort;
  /** Resolves when what the run has recorded so far is in the store. */
  recorded: (handle: string) => Promise<void>;
  /** Null: model steps fail, and say how to get one. */
  models: Models | null;
  /** Null: steps write without a state of the project before. */
  checkpoints: StepCheckpoints | null;
  /** Absent: nothing is limited. */
  limiter?: Limiter;
  shelf: Shelf;
  /** Around each quick command of a segment; absent: nothing. */
  around?: AroundStep | undefined;
}

type Activity = (...args: never[]) => Promise<unknown>;

/** How long a look at what an action comes to may take. */
const LOOK_MS = 60_000;

export function createActivities(parts: ActivityParts): Record<string, Activity> {
  const { store, registry, runs, recorded } = parts;
  const quick = quickSteps({ store, registry, runs, limiter: parts.limiter, around: parts.around });
  const activities: Record<string, Activity> = {
    [SEGMENT]: (input: RunInput, request: SegmentRequest): Promise<SegmentResult> =>
      runSegment({ store, quick, recorded }, input, request, activityInfo().attempt),
    [SHELL]: (request: ShellRequest, options?: StepOptions) =>
      guarded(async () => {
        const context = await contextOf(parts, options);
        return checkpointed(parts.checkpoints, context, { what: SHELL, isBackground: false }, () =>
          runLine(request, context),
        );
      }),
    [WATCH]: (request: WatchRequest) => guarded(async () => watchExecution(request, await contextOf(parts))),
    [LLM]: (request: TurnRequest, options?: StepOptions) => guarded(() => askWithin(parts, request, options)),
    [AGENT]: (input: RunInput, request: AgentRequest) => guarded(() => agent(parts, input, request)),
    [NEXT_EVENT]: async (request: EventRequest) =>
      store.signals.next({ handle: (await ownRun(store)).handle, ...request }),
    [ASK_FOR_GROUP]: async (asked: GroupAsked) => {
      // The run's row; and what an attempt that was lost had recorded, which may say that the run has ended.
      await recorded(ownHandle());
      return askForGroup({ store, runs }, await ownRun(store), asked);
    },
    [DIGEST]: digestOf,
    [CHECK_FORM]: checkForm,
    [CHECK_EDIT]: (...edit: EditToCheck) => checkEdit(registry.catalogue, ...edit),
    [IS_BEHIND]: async (seq: number) => store.journal.isBeyond((await ownRun(store)).handle, seq),
    [READ_DEFINITION]: (given: GivenDefinition) => readGivenDefinition(store, registry.catalogue, given),
    [READ_STARTED]: async (handed: Handed) =>
      readStarted(handed, registry.catalogue, Object.fromEntries(await referredDefinitions(store, referring(handed)))),
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
    [EMIT]: (request: { event: string; data: Json }) =>
      guarded(async () => {
        const context = await contextOf(parts);
        const { run, key } = context;
        const { event: name, data } = request;
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

async function runLine(request: ShellRequest, context: KnownContext): Promise<ShellResult> {
  const { secrets, timeoutMs } = context;
  const { files, ...rest } = secrets.unsealShell(request);
  const ended = await withMaskedFailures(secrets, () =>
    withValueFiles(files, (values, folder) => {
      const sandbox = { readable: folder === undefined ? [] : [folder] };
      return runShell({ ...rest, env: { ...rest.env, ...values }, timeoutMs, sandbox }, context);
    }),
  );
  return secrets.results.json(ended);
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
  options?: StepOptions,
  until?: AbortSignal,
): Promise<TurnOutcome> {
  const context = await contextOf(parts, options);
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
          byModel: confinement?.byModel,
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
      const { byModel } = effect.confinement ?? {};
      const place = { run, asker: key, attempt: `${key} ${attempt}`, byModel, timeoutMs, signal, known, live, masker };
      return (await live.during(runTurn(parts, turnRequest(effect), place))) as unknown as Json;
    },
    call: (effect: CommandEffect) => {
      const isFirst = effect.call?.turn !== answeredBefore || effect.call.tries !== undefined;
      return performCall(parts, effect, { ...context, attempt: isFirst ? 1 : attempt });
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
      return { ...under.said, ...begun, ...live?.progress };
    },
  );
}

/** A quick call of an agent segment, as the activity of the command performs it. */
async function performCall(parts: ActivityParts, effect: CommandEffect, context: CommandContext): Promise<Json> {
  const { key, timeoutMs, confinement, reach, starts } = effect;
  return performCommand(parts, effect, {
    ...context,
    key,
    timeoutMs,
    secrets: await secretsOf(parts.store, effect.secrets),
    ...defined({ confinement, reach, starts }),
  });
}

type KnownContext = CommandContext & { secrets: Secrets };

/** A command of a step, or one that a model called, when it is its turn: nothing of it has happened before. */
function performCommand(parts: ActivityParts, asked: Commanded, context: KnownContext): Promise<Json> {
  const { run, key, timeoutMs, signal } = context;
  const work = (): Promise<Json> => performAtOnce(parts, asked, context);
  return parts.limiter?.tool(asked.command, { id: useOf(run.handle, key), timeoutMs, signal }, work) ?? work();
}

type Commanded = Pick<CommandEffect, 'command' | 'params'> & { call?: CommandEffect['call'] | undefined };

async function performAtOnce(
  parts: ActivityParts,
  { command, params, call }: Commanded,
  context: KnownContext,
): Promise<Json> {
  if (call === undefined) return runCommand(parts, command, params, context);
  const { store, registry } = parts;
  const called = { ...context, secrets: secretsOfCall(context.secrets, context.reach?.env) };
  const isApart = usesModels(registry, command);
  let usage: Json | undefined;
  const perform = async (): Promise<Json> => {
    const result = await runCommand(parts, command, params, called);
    if (!isApart || !isJsonObject(result)) return result;
    usage = result['usage'];
    return result['value'] ?? null;
  };
  const { key, attempt, run } = context;
  const tried = { handle: run.handle, key, attempt, command, params };
  return runCall({ store, catalogue: registry.catalogue }, call, tried, { perform, usage: () => usage });
}

/** Of one that `uses` models: what it spent stands beside its result. */
async function runCommand(
  parts: ActivityParts,
  name: string,
  params: JsonObject,
  context: KnownContext,
): Promise<Json> {
  const { secrets } = context;
  const { store, registry } = parts;
  const spent = usesModels(registry, name) ? new Spent((...asked) => context.turn(...asked)) : null;
  const run = async (session: OpenSession): Promise<Json> =>
    withMaskedFailures(secrets, async () => {
      const value = await registry.run(name, unsealedFor(registry.find(name), params, secrets), {
        ...context,
        session,
        ...(spent === null ? {} : { turn: spent.turn }),
      });
      const result = secrets.results.json(value);
      return spent?.beside(result) ?? result;
    });
  const isReading = findCommand(registry.catalogue, name)?.permission === 'read';
  const perform = async (): Promise<Json> => {
    try {
      return await (isReading ? reading(store, run) : once(store, context, run));
    } catch (error) {
      throw spent?.in(error) ?? error;
    }
  };
  if (!writesFiles(registry, name, params)) return perform();
  const isBackground = registry.find(name)?.isBackground?.(params) === true;
  const paths = filesOf(registry, name, params, context);
  return checkpointed(parts.checkpoints, context, { what: name, isBackground, paths }, perform);
}

async function contextOf(parts: ActivityParts, options?: StepOptions): Promise<KnownContext> {
  const info = activityInfo();
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
    turn: (request, until) => askWithin(parts, request, options, until),
    signal: cancellationSignal,
    timeoutMs: info.startToCloseTimeoutMs - TIMEOUT_MARGIN_MS,
    now: () => Date.now(),
    heartbeat: beat(resumed),
    secrets: await secretsOf(parts.store, options?.secrets),
    ...(parts.checkpoints === null ? {} : { checkpoints: parts.checkpoints }),
    ...(options?.confinement === undefined ? {} : { confinement: options.confinement }),
    ...(options?.reach === undefined ? {} : { reach: options.reach }),
    ...(options?.starts === undefined ? {} : { starts: options.starts }),
    ...(options?.resolved === undefined ? {} : { resolved: options.resolved }),
  };
}

/** What is said stays said until something else is: a beat alone would take it from the next attempt. */
function beat(resumed: Json): CommandContext['heartbeat'] {
  const activity = Context.current();
  let said = resumed;
  return (details = said) => {
    said = details;
    activity.heartbeat(ownMasker().json(details));
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
