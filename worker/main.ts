/**
 * The worker as a process: finds its Temporal server and its database, waits for them where they are
 * away, serves its task queues until told to stop, and lets what runs end first.
 */
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import { sweepOrphans } from '../activities/shell/process/orphans.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { loadBundle } from './bundle.ts';
import { connectionOptions, databaseUrl, readConfig, type WorkerVersion } from '../services/config/config.ts';
import { openModels } from './models.ts';
import { settleCurrent } from './current-version.ts';
import { keepSwept } from './background/sweeping.ts';
import { openTriggers } from './triggers/open-triggers.ts';
import { log, say } from './say.ts';
import { connectWorker } from './worker-connection.ts';
import { startWorker, STORE_POOL_SIZE } from './worker.ts';

const retryMs = 500;

export interface WorkerProcessOptions {
  /** Defaults to what the environment says. */
  version?: WorkerVersion;
  /** New runs start on this version from now on, whichever they started on before. */
  takeOver?: boolean;
}

/** Runs until SIGTERM or SIGINT; resolves with the exit code. */
export async function runWorkerProcess(options: WorkerProcessOptions = {}): Promise<number> {
  const config = readConfig();
  // Commands and sandboxes look here for what they must not reach.
  process.env['SENTINEL_HOME'] = config.home;
  const version = options.version ?? config.version;
  Runtime.install({ logger: new DefaultLogger((process.env['SENTINEL_LOG_LEVEL'] ?? 'WARN') as LogLevel, log) });
  const store = openStore({ url: databaseUrl(config), poolSize: STORE_POOL_SIZE });
  await untilItAnswers('the database', () => store.ping());
  const address = connectionOptions(config);
  const connection = await untilItAnswers('Temporal', () => connectWorker(address));
  await sweepOrphans();
  const bundle = await loadBundle(config.packageRoot);
  const models = await openModels(config);
  const { namespace } = config.temporal;
  const cached = process.env['SENTINEL_MAX_CACHED_WORKFLOWS'];
  const worker = await startWorker({
    store,
    connection,
    namespace,
    taskQueues: config.taskQueues,
    bundle,
    version,
    project: config.project?.folder ?? null,
    options: {
      ...(cached === undefined ? {} : { maxCachedWorkflows: Number(cached) }),
      ...(config.stepsAtOnce === null ? {} : { maxConcurrentActivityTaskExecutions: config.stepsAtOnce }),
    },
  });
  const triggers = openTriggers(worker.starting, config, say);
  const sweeping = keepSwept(worker.starting);
  const stop = (): void => {
    void triggers.close();
    void worker.shutdown().catch(() => undefined);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const current =
    version === null ? null : await settleCurrent(connection, namespace, version, options.takeOver ?? false);
  const versions = version === null ? {} : { ...version, isCurrent: current === version.buildId };
  process.stdout.write(
    `${JSON.stringify({ ready: true, pid: process.pid, taskQueues: config.taskQueues, ...versions })}\n`,
  );
  try {
    await worker.done;
  } finally {
    sweeping.end();
    await Promise.all([triggers.close(), models.close()]);
  }
  await Promise.allSettled([connection.close(), store.close()]);
  return 0;
}

async function untilItAnswers<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await ask();
    } catch (error) {
      const finding = error instanceof Error ? error.message : String(error);
      if (isFirst) say(`${what} does not answer (${finding}); trying again until it does`);
      await sleep(retryMs);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  runWorkerProcess().then(
    (code) => process.exit(code),
    (error: unknown) => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exit(1);
    },
  );
}
