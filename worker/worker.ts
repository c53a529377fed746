/** A Sentinel worker in this process: one Temporal worker for each task queue it serves. */
import type { Client } from '@temporalio/client';
import {
  type ActivityInterceptorsFactory,
  type NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { type ActivityParts, createActivities } from '../activities/activities.ts';
import { StepCheckpoints } from '../operations/checkpoints/step-checkpoints.ts';
import type { Command } from '../operations/command.ts';
import type { ChangingCommands, Registry } from '../operations/registry.ts';
import { makeTables, type CommandQueue } from '../operations/system.ts';
import {
  builtInBackground,
  builtInFollowers,
  builtInLayers,
  builtInQueues,
  builtInRegistry,
  builtInSystems,
  makePrepared,
} from '../systems/built-in.ts';
import { commandQueue } from '../language/command-queue.ts';
import { defined } from '../language/defined.ts';
import { DayBudgets } from '../activities/limits/day-budgets.ts';
import { Limiter, type LimitSettings } from '../activities/limits/limiter.ts';
import type { Models } from '../world/models/open-models.ts';
import { Shelf } from '../activities/turns/cassettes/shelf.ts';
import { BackgroundProcesses } from '../operations/shell/background.ts';
import { dataConverter, sealedClient } from '../runs/temporal-connection.ts';
import type { Policy } from '../language/policy/policy.ts';
import { policiesOfProject } from '../runs/policies.ts';
import { runStarter, type RunServices } from '../runs/start-run.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { KeptProcesses } from '../world/processes/kept/kept-processes.ts';
import { workerMarker } from '../world/processes/orphans.ts';
import { buildIdOf, failureConverterPath } from '../runs/bundle.ts';
import type { WorkerVersion } from '../services/config/config.ts';
import type { SealKeys } from '../services/config/seal-key.ts';
import { isQueueOfProject } from '../services/config/project-queue.ts';
import { activityCrashPoints } from './activity-crash-points.ts';
import { BackgroundTasks, type PerformedTask } from './background/background-tasks.ts';
import { EventFeed } from './background/event-feed.ts';
import { type KnownLayers, type LayersParts, withLayers } from './layers.ts';
import { fedFollower, type FollowedEvent } from './background/followers.ts';
import { LostRuns } from './background/lost-runs.ts';
import { say } from './say.ts';
import type { Training } from '../operations/training.ts';
import { standingOfRun } from '../runs/steer-run.ts';
import { OwnExecutions, sealedSteps } from './own-executions.ts';
import { refusedRunEnder } from './refused-runs.ts';
import { type RecorderParts, RunRecorder } from './run-recorder.ts';
import { askRunOf, askStepOf } from './run-signals.ts';
import { wakeRun } from '../runs/run-controller.ts';
import { SubscriberWaker } from './background/subscriber-waker.ts';
import { StepsUnderWay } from './steps-under-way.ts';
import type { LoopWatch } from './watchdog/loop-watch.ts';
import { SuspectSteps } from './watchdog/suspect-steps.ts';
import { ownIdentity } from '../services/supervisor/standing-workers.ts';
import { DEPLOYMENT, GRACE_SECONDS } from '../services/config/worker-settings.ts';

/** Each may hold one connection of the store and need a second: the pool is larger than this. */
export const SEGMENTS_AT_ONCE_MAX = 32;
export const STORE_POOL_SIZE = 48;

export interface WorkerParts {
  store: Store;
  connection: NativeConnection;
  namespace: string;
  /** What it takes from Temporal is sealed with one of these, and what it gives with the first. */
  keys: SealKeys;
  taskQueues: readonly string[];
  bundle: WorkflowBundleOption;
  /** Runs that start on this worker stay with workers of the same version; null: with any worker. */
  version?: WorkerVersion | null;
  /** From `shutdown` until it has ended: 60 s unless told otherwise. */
  graceMs?: number;
  /** Told of the steps that `shutdown` waits for. */
  underWay?: StepsUnderWay;
  /** Watches over the event loop; absent: nobody does. */
  watch?: LoopWatch;
  /** Absent: none are configured. */
  models?: Models;
  /** Rate limits and circuit breakers; absent: none. */
  limits?: LimitSettings;
  /** Of the built-in systems, by name. */
  settings?: { readonly [system: string]: object };
  /** Commands beside the built-in ones. */
  commands?: readonly Command[];
  /** What the systems of its project follow. */
  followers?: readonly FollowedEvent[];
  /** What the systems of its project do again and again. */
  tasks?: readonly PerformedTask[];
  /** Systems of its project that know layers of models. */
  layers?: readonly KnownLayers[];
  /** Task queues of commands. */
  queues?: { readonly [name: string]: CommandQueue };
  /** It serves this one of them alone, and does nothing beside. */
  only?: string | undefined;
  /** Those that may change while it runs. */
  changing?: ChangingCommands;
  /** The project whose configuration this worker has; null: none. Absent: nothing is checked. */
  project?: string | null;
  /** What holds for all its runs. */
  policies?: readonly Policy[];
  /** Where processes are kept that outlive this worker; absent: they end with it. */
  kept?: string | undefined;
  /** The home in which states of projects are kept, before and after steps that may write; null or absent: none are taken. */
  checkpoints?: string | null;
  /** What its commands train with; absent: nothing. */
  training?: Training;
  /** Overrides for tests and benchmarks, e.g. `maxCachedWorkflows: 0`. */
  options?: Partial<WorkerOptions>;
}

/** What a step that is interrupted is left to end its processes and to say so; of a short grace a quarter. */
const INTERRUPTED_MS = 8_000;
const FORCED_AFTER_MS = 5_000;

export interface RunningWorker {
  /** Starts runs here: their first task comes with the answer to the start, without a queue between. */
  starting: RunServices;
  /** Feeds with published events whoever is added. */
  feed: EventFeed;
  /** How many runs it has told of an event. */
  woken(): number;
  /** Settles when every worker has stopped; rejects when one died. */
  done: Promise<void>;
  /** Its kept processes go on, and the next worker takes them over. */
  leave(): void;
  shutdown(): Promise<void>;
}

/** Pinned: what a run began with can replay it; a newer version need not. Without a version the build is only named. */
async function knownAs(
  version: WorkerVersion | null,
  bundle: WorkflowBundleOption,
): Promise<Pick<WorkerOptions, 'identity' | 'workerDeploymentOptions'>> {
  const identity = ownIdentity();
  if (version === null) {
    const named = { deploymentName: DEPLOYMENT, buildId: await buildIdOf(bundle) };
    return { identity, workerDeploymentOptions: { useWorkerVersioning: false, version: named } };
  }
  const pinned = { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' } as const;
  return { identity, workerDeploymentOptions: pinned };
}

function timesOf(graceMs: number): Partial<WorkerOptions> {
  return {
    shutdownGraceTime: graceMs - Math.min(INTERRUPTED_MS, graceMs / 4),
    // A worker whose core has failed takes no task and never ends; by then every step that was cancelled has.
    shutdownForceTime: graceMs + FORCED_AFTER_MS,
    // A cancellation comes with the answer to a heartbeat.
    defaultHeartbeatThrottleInterval: '500ms',
    maxHeartbeatThrottleInterval: '500ms',
    stickyQueueScheduleToStartTimeout: '5s',
  };
}

const interceptorsOf = (
  own: OwnExecutions,
  underWay: StepsUnderWay,
  suspects: readonly SuspectSteps[],
): ActivityInterceptorsFactory[] => [
  activityCrashPoints,
  sealedSteps,
  own.interceptor,
  underWay.interceptor,
  ...suspects.map(({ interceptor }) => interceptor),
];

/** The first task of a run that it starts comes to it under the name of its client. */
const clientOf = ({ connection, namespace, store, keys }: WorkerParts): Client =>
  sealedClient({ connection, namespace, store, keys, identity: ownIdentity() });

interface Recording extends Required<Pick<RecorderParts, 'endRefused'>> {
  client: Client;
  own: OwnExecutions;
  kept: KeptProcesses | undefined;
}

const recording = ({ client, endRefused, own, kept }: Recording): RecorderParts => ({
  endRefused,
  executions: own,
  stepEnded: (handle, key) => kept?.forget(handle, key),
  standingOf: (handle) => standingOfRun(client, handle),
});

export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { store, graceMs = 1000 * GRACE_SECONDS, underWay = new StepsUnderWay() } = parts;
  await makeTables(store, builtInSystems);
  const converter = dataConverter(store, parts.keys);
  const client = clientOf(parts);
  const own = new OwnExecutions({ client, store, say });
  const kept = await keptIn(parts);
  const endRefused = refusedRunEnder({ client, store, say });
  const recorder = new RunRecorder(store, recording({ client, endRefused, own, kept }));
  const checkpoints = checkpointsIn(parts);
  const background = new BackgroundProcesses(async (of) => checkpoints?.end(of));
  const registry = registryIn(parts, background);
  const starting = startingIn(parts, client, registry);
  const suspects = await suspecting(parts);
  const runs = runStarter(starting);
  const activities = createActivities({
    store,
    registry,
    runs,
    models: modelsIn(parts, { registry, runs }),
    checkpoints,
    ...limiting(parts),
    shelf: new Shelf(store),
    recorded: (handle) => recorder.written(handle),
    kept,
    around: suspects[0]?.around,
    recordRefused: (handle, error) => endRefused(handle, error, undefined),
    // What a segment begins goes on in an activity: of these there is a bound.
    beginsInSegments: parts.options?.maxConcurrentActivityTaskExecutions === undefined,
  });
  const workers = await workersOf(parts, {
    activities,
    sinks: recorder.sinks(),
    dataConverter: { ...converter, failureConverterPath },
    interceptors: { activity: interceptorsOf(own, underWay, suspects) },
    ...timesOf(graceMs),
  });
  const running = workers.map((worker) => worker.run());
  background.open(store, askRunOf(client));
  kept?.open(askStepOf(client, store));
  const feed = new EventFeed({ store, say });
  if (parts.only === undefined) void prepare(parts);
  const jobs =
    parts.only === undefined ? await besides({ ...parts, feed }, client, starting, registry) : NOTHING_BESIDE;
  const done = settleAll(running, async () => {
    for (const one of suspects) one.close();
    await Promise.all([background.close(), jobs.close(), feed.close(), kept?.close()]);
  }).then(() => recorder.close());
  return {
    starting,
    feed,
    woken: () => jobs.woken(),
    done,
    leave: () => kept?.leave(),
    async shutdown() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}

const limiting = ({ limits, store }: WorkerParts): { limiter?: Limiter; days: DayBudgets } => ({
  ...(limits === undefined ? {} : { limiter: new Limiter(limits, store.limits) }),
  days: new DayBudgets(store.personaDays),
});

function registryIn(
  { changing, settings, models, commands, training }: WorkerParts,
  background: BackgroundProcesses,
): Registry {
  const parts = defined({ embed: models?.embed, training });
  return builtInRegistry({ background, changing, settings, ...parts }, commands);
}

async function workersOf(parts: WorkerParts, given: Partial<WorkerOptions>): Promise<Worker[]> {
  const options: Omit<WorkerOptions, 'taskQueue'> = {
    connection: parts.connection,
    namespace: parts.namespace,
    workflowBundle: parts.bundle,
    maxConcurrentLocalActivityExecutions: SEGMENTS_AT_ONCE_MAX,
    ...given,
    ...(await knownAs(parts.version ?? null, parts.bundle)),
    ...parts.options,
  };
  return Promise.all(servedBy(parts).map((served) => Worker.create({ ...options, ...served })));
}

/** Beside its tasks, whose end does not wait for it. What it cannot make is missing, and takes no step with it. */
async function prepare({ store, settings = {} }: WorkerParts): Promise<void> {
  const said = await makePrepared(store, settings).catch((error: unknown) => [
    `what the configuration asks of systems is not made: ${error instanceof Error ? error.message : String(error)}; "sentinel doctor" says what is missing`,
  ]);
  for (const text of said) say(text);
}

/** The queues of its runs, and below each those of commands, which have no workflows. */
function servedBy({ taskQueues, queues = builtInQueues, only }: WorkerParts): Pick<WorkerOptions, 'taskQueue'>[] {
  const names = only === undefined ? Object.keys(queues).filter((name) => queues[name]?.elsewhere !== true) : [only];
  const ofCommands = taskQueues.flatMap((taskQueue) =>
    names.map((name) => ({
      taskQueue: commandQueue(taskQueue, name),
      workflowBundle: undefined,
      maxConcurrentActivityTaskExecutions: queues[name]?.atOnce ?? 1,
    })),
  );
  return [...(only === undefined ? taskQueues.map((taskQueue) => ({ taskQueue })) : []), ...ofCommands];
}

interface Besides {
  woken(): number;
  close(): Promise<void>;
}

const NOTHING_BESIDE: Besides = { woken: () => 0, close: async () => undefined };

/** What it does beside its tasks. */
async function besides(
  { store, feed, project, taskQueues, models, followers = [], tasks = [] }: WorkerParts & { feed: EventFeed },
  client: Client,
  starting: RunServices,
  registry: Registry,
): Promise<Besides> {
  const parts = { store, registry, runs: runStarter(starting), project: project ?? process.cwd() };
  const followed = [...builtInFollowers, ...followers].map((one) => fedFollower(parts, one));
  // From here on they hear, also of what is published before they are fed for the first time.
  for (const fed of followed) await store.cursors.open(fed);
  const performing = await BackgroundTasks.open({ ...parts, starting, tasks: [...ownTasks(models), ...tasks], say });
  const waker = new SubscriberWaker({ signals: store.signals, wake: (handle) => wakeRun(client, handle) });
  // Beside the worker of a project there is always that of the installation, which looks after all of them.
  const lost = taskQueues.some(isQueueOfProject) ? null : new LostRuns({ client, store });
  for (const fed of followed) feed.add(fed);
  return {
    woken: () => waker.woken,
    async close() {
      await Promise.all([waker.close(), lost?.close(), performing?.close()]);
    },
  };
}

/** What needs a model that makes vectors waits until one is named. */
const ownTasks = (models: Models | undefined) =>
  builtInBackground.filter(({ needs }) => needs !== 'embedding' || models?.embeds === true);

/** Where the event loop is watched. */
async function suspecting({ store, watch }: WorkerParts): Promise<SuspectSteps[]> {
  if (watch === undefined) return [];
  const suspects = new SuspectSteps(store, watch);
  await suspects.open(say);
  return [suspects];
}

const keptIn = async ({ kept }: WorkerParts): Promise<KeptProcesses | undefined> =>
  kept === undefined ? undefined : new KeptProcesses(kept, await workerMarker());

const modelsIn = (
  { models, store, project, layers = [] }: WorkerParts,
  { registry, runs }: Pick<LayersParts, 'registry' | 'runs'>,
): ActivityParts['models'] =>
  models === undefined
    ? null
    : withLayers(models, { store, registry, runs, project: project ?? '', known: [...builtInLayers, ...layers] });

const checkpointsIn = ({ store, checkpoints: home = null }: WorkerParts): StepCheckpoints | null =>
  home === null ? null : new StepCheckpoints(store.checkpoints, home, say);

function startingIn(
  { store, taskQueues, project, policies = [] }: WorkerParts,
  client: Client,
  registry: Registry,
): RunServices {
  return {
    store,
    client,
    get catalogue() {
      return registry.catalogue;
    },
    taskQueue: taskQueues[0] ?? '',
    isEager: true,
    policiesOf: policiesOfProject(project, policies),
  };
}

/** What this process holds is let go of also where a worker died. */
async function settleAll(running: readonly Promise<void>[], letGo: () => Promise<void>): Promise<void> {
  try {
    await Promise.all(running);
  } finally {
    await letGo();
  }
}
