/**
 * The worker as a process: finds its Temporal server and its database, waits for them where they are
 * away, serves its task queues until told to stop, and lets what runs end first.
 */
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, type NativeConnection, Runtime, type LogLevel } from '@temporalio/worker';
import { commandQueue } from '../language/command-queue.ts';
import { builtInQueues } from '../systems/built-in.ts';
import { ConfigError } from '../services/home/config-error.ts';
import { keepOwnKeys } from '../world/own-keys/own-keys.ts';
import { sandboxDoubt } from '../world/confinement/sandbox.ts';
import { keptRoot } from '../world/processes/kept/kept-folder.ts';
import { sweepOrphans } from '../world/processes/orphans.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { closeInherited } from '../services/processes/own-descriptors.ts';
import { abortable, onceAborted, onEndSignals } from '../services/processes/end-signals.ts';
import { loadBundle } from '../runs/bundle.ts';
import { trainingWith } from '../runs/commands/training.ts';
import {
  type Config,
  connectionOptions,
  databaseUrl,
  readConfig,
  type WorkerVersion,
} from '../services/config/config.ts';
import { makeHome } from '../services/home/own-home.ts';
import { openProject, type ProjectParts } from './project-parts.ts';
import { homeKeyText } from '../services/seal/home-key.ts';
import { configFileOf } from '../services/config/project-file.ts';
import { isQueueOfProject, queueOfProject } from '../services/config/project-queue.ts';
import { giveLostBack } from '../services/supervisor/lost-workers.ts';
import { standAsWorker } from '../services/supervisor/standing-workers.ts';
import { PROJECT_FLAG } from '../services/supervisor/worker-process.ts';
import type { RunServices } from '../runs/start-run.ts';
import { keepAsking, type ProjectAsking } from './background/project-asking.ts';
import { WaitingProjects } from './background/waiting-projects.ts';
import { openKeys } from '../services/seal/open-keys.ts';
import { openModels } from './models.ts';
import { Notifier, type NotifierParts } from './notifications/notifier.ts';
import { settleCurrent } from './current-version.ts';
import { endNow, tellOfSteps } from './ending.ts';
import type { ProjectConfig } from '../services/config/project-config.ts';
import { webhookSources, type WebhookSource } from '../services/config/webhook-config.ts';
import type { NotifyConfig } from '../services/config/limits-config.ts';
import { keepSwept } from './background/sweeping.ts';
import { StepsUnderWay } from './steps-under-way.ts';
import { openTriggers } from './triggers/open-triggers.ts';
import { log, say } from './say.ts';
import { LoopWatch } from './watchdog/loop-watch.ts';
import { connectWorker } from './worker-connection.ts';
import { startWorker, STORE_POOL_SIZE, type RunningWorker, type WorkerParts } from './worker.ts';
import { defined } from '../language/defined.ts';
import { followersOf, layersOf, tasksOf } from './system-parts.ts';

const retryMs = 500;
/** Connections that do not close within this time end with the process. */
const closeMaxMs = 2_000;

export interface WorkerProcessOptions {
  /** Defaults to what the environment says. */
  version?: WorkerVersion;
  /** The project whose own worker this is; absent: of none. */
  project?: string | undefined;
  /** It serves this queue of commands alone. */
  queue?: string | undefined;
  /** New runs start on this version from now on, whichever they started on before. */
  takeOver?: boolean;
}

interface Serving {
  config: Config;
  version: WorkerVersion | null;
  takeOver: boolean;
  only: string | undefined;
  store: Store;
  connection: NativeConnection;
  underWay: StepsUnderWay;
  /** Aborts when the process is told to end. */
  signal: AbortSignal;
  /** Whether it was told to let its kept processes go on. */
  isLeaving(): boolean;
}

/**
 * Runs until SIGTERM, SIGINT, or SIGUSR2, which lets kept processes go on; resolves with the exit code. Whatever it
 * waits for before it serves is given up then; the steps it is at may end, in `graceMs` of the settings. A second
 * signal ends the process at once.
 */
export async function runWorkerProcess(options: WorkerProcessOptions = {}): Promise<number> {
  closeInherited();
  const config = configOf(options.project);
  tryToMakeHome(config.home);
  // Commands and sandboxes look here for what they must not reach.
  process.env['SENTINEL_HOME'] = config.home;
  process.on('uncaughtException', crash);
  const underWay = new StepsUnderWay();
  const end = onEndSignals({
    graceMs: config.graceMs,
    endNow: (exitCode, why) => {
      if (why === 'time') say(`not ended after ${config.graceMs / 1000} s; ending now`);
      if (end.isLeaving()) process.exit(exitCode);
      void endNow(exitCode, underWay.list(), config.home);
    },
  });
  const { signal } = end;
  // Its own handlers of signals, which end workers alone, would stand in place of ours.
  Runtime.install({
    logger: new DefaultLogger((process.env['SENTINEL_LOG_LEVEL'] ?? 'WARN') as LogLevel, log),
    shutdownSignals: [],
  });
  keepKeys(config);
  const store = openStore({ url: databaseUrl(config), poolSize: STORE_POOL_SIZE });
  const closers = [() => store.close()];
  try {
    await untilItAnswers('the database', signal, () => store.ping());
    const address = connectionOptions(config);
    const connection = await untilItAnswers('Temporal', signal, () => connectWorker(address));
    closers.push(() => connection.close());
    const { takeOver = false, version = config.version, queue: only } = options;
    await serve({
      config,
      version,
      takeOver,
      only,
      store,
      connection,
      underWay,
      signal,
      isLeaving: () => end.isLeaving(),
    });
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  }
  await Promise.race([Promise.allSettled(closers.map((close) => close())), sleep(closeMaxMs)]);
  end.release();
  process.off('uncaughtException', crash);
  return 0;
}

/** The worker of a project serves its queue alone. */
function configOf(project: string | undefined): Config {
  const config = readConfig();
  if (project === undefined) return config;
  const digest = configFileOf(project)?.digest ?? '';
  const queue = queueOfProject(config.taskQueues[0], project);
  // Whoever has the common secret sends to the worker of the installation.
  return { ...config, project: { folder: project, digest }, taskQueues: [queue], webhooks: null };
}

/** A worker of servers elsewhere does without; what was accepted in a home that is not its own does not count. */
function tryToMakeHome(home: string): void {
  try {
    makeHome(home, say);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** What nothing that leaves this process may show. */
function keepKeys(config: Config): void {
  const { temporal, webhooks, home } = config;
  keepOwnKeys([
    ['DATABASE_URL', databaseUrl(config)],
    ['TEMPORAL_API_KEY', temporal.apiKey],
    ['seal.key', homeKeyText(home)],
    ...(webhooks?.secrets ?? []).map((secret) => ['SENTINEL_WEBHOOK_SECRET', secret] as const),
  ]);
}

/** Services have their key at the end of the path, or behind it. */
function keepKeysOf(targets: NotifyConfig): void {
  for (const { url, secret } of targets)
    keepOwnKeys([
      ['notify.url', url],
      ['notify.url', new URL(url).pathname.split('/').at(-1)],
      ['notify.secret', secret],
    ]);
}

/** Who may send webhooks, with secrets that are keys of this process. */
function openSources({ webhooks }: ProjectConfig): WebhookSource[] {
  const sources = webhookSources(webhooks, process.env);
  keepOwnKeys(sources.flatMap(({ name, secrets }) => secrets.map((secret) => [`webhooks.${name}`, secret] as const)));
  return sources;
}

/** Found out once the runs go on, and not with the first one that wants it. */
async function tellOfSandbox(): Promise<void> {
  try {
    const doubt = await sandboxDoubt();
    if (doubt !== null) say(doubt);
  } catch (error) {
    say(`the sandbox could not be tried: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** By itself Node.js would print what broke it as it is. */
function crash(error: unknown): void {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}

async function begin({ config, version, connection, signal }: Serving) {
  void giveLostBack({ home: config.home, connected: (use) => use(connection), say }, true);
  await abortable(signal, sweepOrphans());
  const bundle = await abortable(signal, loadBundle(config.packageRoot));
  const { namespace } = config.temporal;
  return { bundle, leave: standAsWorker(config.home, { namespace, taskQueues: config.taskQueues, version }) };
}

/** Rejects with the signal's reason where it aborts before there is a worker. */
async function serve(serving: Serving): Promise<void> {
  const { config, version, store, connection, underWay, signal } = serving;
  const { bundle, leave } = await begin(serving);
  // Opening starts nothing: providers connect, and a local model loads, with their first turn.
  const project = await openProject(config, store, say);
  keepKeysOf(project.config.notify);
  const sources = openSources(project.config);
  const models = openModels(config, project.config.models);
  const watch = new LoopWatch({ silentMs: config.silentMs, databaseUrl: databaseUrl(config), home: config.home });
  // An error that nobody caught, or a step that ended the process: nobody has told it to end.
  const onExit = (): void => watch.crashed(signal);
  process.on('exit', onExit);
  const worker = await startWorker({
    store,
    connection,
    namespace: config.temporal.namespace,
    keys: await openKeys(config, store),
    taskQueues: config.taskQueues,
    bundle,
    version,
    models,
    settings: project.config.settings,
    commands: project.commands,
    followers: followersOf(project.systems),
    tasks: tasksOf(project.systems),
    layers: layersOf(project.systems),
    queues: queuesOf(project, serving.only),
    only: serving.only,
    ...defined({ changing: project.changing }),
    limits: project.config.limits,
    project: config.project?.folder ?? null,
    policies: project.policies,
    ...inHome(config, models),
    graceMs: config.graceMs,
    underWay,
    watch,
    options: optionsOf(config),
  });
  const { triggers, besides, notifier } =
    serving.only === undefined ? besideRuns(serving, worker, project, sources) : NOTHING;
  const stopping = onceAborted(signal, () => {
    void triggers?.close();
    void notifier?.close();
    if (serving.isLeaving()) worker.leave();
    void worker.shutdown().catch(() => undefined);
    return tellOfSteps(underWay, config.graceMs);
  });
  try {
    await sayReady(serving);
    void tellOfSandbox();
    await worker.done;
    leave();
  } finally {
    stopping.close();
    process.off('exit', onExit);
    await watch.close();
    await Promise.all([triggers?.close(), models.close(), project.close(), notifier?.close(), besides?.close()]);
  }
}

/** What lies there and outlives the process. */
const inHome = (config: Config, models: ReturnType<typeof openModels>) => ({
  checkpoints: config.checkpoints ? config.home : null,
  kept: keptRoot(config.home),
  training: trainingWith(config, models),
});

const NOTHING: Partial<ReturnType<typeof besideRuns>> = {};

function besideRuns(serving: Serving, worker: RunningWorker, project: ProjectParts, sources: WebhookSource[]) {
  const { config, store } = serving;
  return {
    triggers: openTriggers(worker, config, { rate: project.config.limits.triggers, sources }, say),
    besides: beside(serving, worker.starting, dutiesOf(project, sources)),
    notifier: openNotifier(config, { store, feed: worker.feed }, project.config.notify),
  };
}

/** Of all systems: the commands of one that cannot be used say so. The first that states a queue has it. */
function queuesOf(
  { systems }: Pick<ProjectParts, 'systems'>,
  only: string | undefined,
): NonNullable<WorkerParts['queues']> {
  const queues = Object.assign(
    {},
    builtInQueues,
    ...systems.toReversed().map(({ system }) => system.queues),
  ) as NonNullable<WorkerParts['queues']>;
  if (only !== undefined && !Object.hasOwn(queues, only)) {
    const names = Object.keys(queues);
    throw new ConfigError(
      `No system of the project states a queue "${only}"${names.length === 0 ? '' : `; there are ${names.join(', ')}`}.`,
    );
  }
  return queues;
}

/** What the worker of the installation does for all projects; that of a project looks after itself. */
function beside({ config, store }: Serving, starting: RunServices, duties: Duties): { close(): Promise<void> } {
  const { home, project, projectWorkers } = config;
  if (project !== null && isQueueOfProject(starting.taskQueue))
    return keepAsking({ home, project: project.folder, idleMs: projectWorkers.idleMs, ...duties, store });
  const sweeping = keepSwept(starting, home);
  const waiting = new WaitingProjects({ config, client: starting.client, store });
  return {
    async close() {
      sweeping.end();
      await waiting.close();
    },
  };
}

type Duties = Pick<ProjectAsking, 'stays' | 'receives'>;

/** Which a run does not ask for. */
function dutiesOf({ systems }: ProjectParts, sources: readonly WebhookSource[]): Duties {
  const receives = sources.length > 0;
  return { stays: receives || followersOf(systems).length > 0 || tasksOf(systems).length > 0, receives };
}

function optionsOf({ stepsAtOnce }: Config): NonNullable<WorkerParts['options']> {
  const cached = process.env['SENTINEL_MAX_CACHED_WORKFLOWS'];
  return {
    ...(cached === undefined ? {} : { maxCachedWorkflows: Number(cached) }),
    ...(stepsAtOnce === null ? {} : { maxConcurrentActivityTaskExecutions: stepsAtOnce }),
  };
}

/** Null where nobody is to be told. */
function openNotifier(
  { project }: Config,
  parts: Pick<NotifierParts, 'store' | 'feed'>,
  targets: NotifyConfig,
): Notifier | null {
  return project === null || targets.length === 0
    ? null
    : new Notifier({ ...parts, project: project.folder, targets, say });
}

async function sayReady({ config, version, takeOver, only, connection, signal }: Serving): Promise<void> {
  const { namespace } = config.temporal;
  const current =
    version === null || only !== undefined
      ? null
      : await untilAborted(signal, settleCurrent(connection, namespace, version, takeOver));
  if (signal.aborted) return;
  const versions = version === null ? {} : { ...version, isCurrent: current === version.buildId };
  const taskQueues =
    only === undefined ? config.taskQueues : config.taskQueues.map((queue) => commandQueue(queue, only));
  process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid, taskQueues, ...versions })}\n`);
}

/** Null where the signal aborts first. */
async function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result | null> {
  try {
    return await abortable(signal, work);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

async function untilItAnswers<Result>(what: string, signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await abortable(signal, ask());
    } catch (error) {
      signal.throwIfAborted();
      const finding = error instanceof Error ? error.message : String(error);
      if (isFirst) say(`${what} does not answer (${finding}); trying again until it does`);
      await abortable(signal, sleep(retryMs));
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const project = process.argv.find((arg) => arg.startsWith(PROJECT_FLAG))?.slice(PROJECT_FLAG.length);
  runWorkerProcess({ project }).then((code) => process.exit(code), crash);
}
