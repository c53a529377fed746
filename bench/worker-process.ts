/**
 * One worker in a process of its own, Sentinel's or the twin's, so that its processor time and memory
 * are its own. It answers each message with what it has used so far, and ends when told to.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  type NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import * as z from 'zod';
import { defineCommand, type Command } from '../operations/command.ts';
import { Models } from '../world/models/open-models.ts';
import { NO_SETTINGS } from '../world/models/resolve/settings.ts';
import { startRun } from '../runs/start-run.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { keysIn, newKeyText, type SealKeys } from '../services/config/seal-key.ts';
import { giveLostBack } from '../services/supervisor/lost-workers.ts';
import { standAsWorker } from '../services/supervisor/standing-workers.ts';
import { loadBundle } from '../runs/bundle.ts';
import { connectWorker } from '../worker/worker-connection.ts';
import { startWorker, STORE_POOL_SIZE, type WorkerParts } from '../worker/worker.ts';
import { LoopWatch } from '../worker/watchdog/loop-watch.ts';
import { SILENT_SECONDS } from '../services/config/worker-settings.ts';
import { keptRoot } from '../world/processes/kept/kept-folder.ts';
import { append } from './agents/bare.ts';
import { APPEND, APPEND_FACTS, LOOK, LOOK_FACTS, NOOP, NOOP_FACTS } from './definitions.ts';
import { inParallel } from './lanes.ts';
import { noop, twinActivities } from './twin/activities.ts';
import { twinAttributes } from './twin/search-attributes.ts';
import type { Lanes, Ran, Usage, Work, WorkerSpec } from './work.ts';

/** The same on both sides, and what a Sentinel worker sets; so is the connection. */
const settings: Partial<WorkerOptions> = { shutdownGraceTime: '10s', stickyQueueScheduleToStartTimeout: '5s' };

const noopCommand = defineCommand({
  name: NOOP,
  ...NOOP_FACTS,
  params: z.looseObject({}),
  result: z.object({}),
  run: noop,
});

/** Counts at the double how often it is done. */
const lookOf = (modelUrl: string): Command =>
  defineCommand({
    name: LOOK,
    ...LOOK_FACTS,
    description: 'Looks at something.',
    params: z.object({ token: z.string(), n: z.number() }),
    result: z.object({ text: z.string() }),
    run: async ({ token, n }) => ({ text: await (await fetch(`${modelUrl}/look?token=${token}&n=${n}`)).text() }),
  });

/** The line of a model's call is on the disk when the call has ended. */
const appendIn = (project: string): Command =>
  defineCommand({
    name: APPEND,
    ...APPEND_FACTS,
    description: 'Appends a line to a file.',
    params: z.object({ path: z.string(), n: z.number(), bytes: z.number() }),
    result: z.object({ text: z.string() }),
    run: async ({ path, n, bytes }) => ({ text: await append(join(project, path), n, bytes) }),
  });

const modelsAt = (spec: WorkerSpec): Models =>
  new Models({
    settings: NO_SETTINGS,
    env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${spec.modelUrl}/v1` },
    registry: join(spec.project, 'no-models.json'),
    program: { path: '' },
    project: spec.project,
  });

/** What a side can do inside its own process, as DBOS does: start a run here and wait for its result. */
interface Running {
  end(): Promise<void>;
  /** Answers its id in Temporal. */
  run(work: Work): Promise<string>;
  woken(): number;
}

const keysOf = async (store: Store): Promise<SealKeys> => keysIn(await store.sealKey(newKeyText()));

async function startSide(spec: WorkerSpec): Promise<Running> {
  const connection = await connectWorker({ address: spec.address });
  const { taskQueue, options } = spec;
  if (spec.side === 'twin') {
    const workflowBundle = { codePath: spec.twinBundle };
    const activities = twinActivities(spec.databaseUrl, spec.project, spec.modelUrl);
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle,
      activities: { ...activities },
      ...settings,
      ...options,
    });
    const running = worker.run();
    const client = new Client({ connection });
    return {
      woken: () => 0,
      async end() {
        worker.shutdown();
        await running;
      },
      async run({ workflow }) {
        const { type, args } = workflow ?? { type: '', args: [] };
        const workflowId = `twin/${randomUUID()}`;
        await client.workflow.execute(type, {
          taskQueue,
          workflowId,
          args,
          typedSearchAttributes: twinAttributes,
          requestEagerStart: true,
        });
        return workflowId;
      },
    };
  }
  return sentinelSide(spec, connection);
}

/** With a home it is set up as the worker of an installation is. */
function keptAt({ home, hasStates, databaseUrl }: WorkerSpec): Partial<WorkerParts> {
  if (home === '') return {};
  mkdirSync(home, { recursive: true, mode: 0o700 });
  process.env['SENTINEL_HOME'] = home;
  const watch = new LoopWatch({ silentMs: 1000 * SILENT_SECONDS, databaseUrl, home });
  return { kept: keptRoot(home), checkpoints: hasStates ? home : null, watch };
}

/** What a worker of the same home that was killed had begun goes on at once, as with the installation's. */
function standAt({ home, taskQueue }: WorkerSpec, connection: NativeConnection): () => void {
  if (home === '') return () => undefined;
  void giveLostBack({ home, connected: (use) => use(connection), say: () => undefined }, true);
  return standAsWorker(home, { namespace: 'default', taskQueues: [taskQueue], version: null });
}

async function sentinelSide(spec: WorkerSpec, connection: NativeConnection): Promise<Running> {
  const { taskQueue, options } = spec;
  const leave = standAt(spec, connection);
  const store = openStore({ url: spec.databaseUrl, poolSize: STORE_POOL_SIZE });
  const bundle = await loadBundle(spec.packageRoot);
  const parts = { store, connection, namespace: 'default', keys: await keysOf(store), taskQueues: [taskQueue], bundle };
  const models = spec.modelUrl === '' ? {} : { models: modelsAt(spec) };
  const commands = [noopCommand, lookOf(spec.modelUrl), appendIn(spec.project)];
  const kept = keptAt(spec);
  const worker = await startWorker({ ...parts, ...models, ...kept, commands, options: { ...settings, ...options } });
  const { starting } = worker;
  return {
    woken: () => worker.woken(),
    async end() {
      await worker.shutdown();
      leave();
      await kept.watch?.close();
      await store.close();
    },
    async run({ definition }) {
      if (definition === undefined) throw new Error('the benchmark gave Sentinel nothing to run');
      const { workflowId } = await startRun(starting, {
        definition,
        inputs: {},
        project: spec.project,
        persona: 'bench',
      });
      await starting.client.workflow.getHandle(workflowId).result();
      return workflowId;
    },
  };
}

function usage(woken = 0): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss(), woken };
}

async function serve(): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  });
  const spec = JSON.parse(process.argv[2] ?? '{}') as WorkerSpec;
  const side = await startSide(spec);
  const end = async (): Promise<void> => {
    await side.end();
    process.exit(0);
  };
  const lanes = async ({ work, count, width }: Lanes): Promise<void> => {
    let workflowId = '';
    const together = await inParallel(count, width, async () => {
      workflowId = await side.run(work);
    });
    process.send?.({ ...together, workflowId } satisfies Ran);
  };
  process.on('message', (message: Lanes | 'end' | 'usage') => {
    if (message === 'end') void end();
    else if (message === 'usage') process.send?.(usage(side.woken()));
    else void lanes(message);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(usage());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  serve().catch((error: unknown) => {
    process.stderr.write(`bench worker: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
}
