/**
 * One worker in a process of its own, Sentinel's or the twin's, so that its processor time and memory
 * are its own. It answers each message with what it has used so far, and ends when told to.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import * as z from 'zod';
import { defineCommand, type Command } from '../operations/command.ts';
import { Models } from '../world/models/open-models.ts';
import { NO_SETTINGS } from '../world/models/resolve/settings.ts';
import { startRun } from '../runs/start-run.ts';
import type { Definition } from '../language/model.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { keysIn, newKeyText, type SealKeys } from '../services/config/seal-key.ts';
import { loadBundle } from '../runs/bundle.ts';
import { connectWorker } from '../worker/worker-connection.ts';
import { startWorker, STORE_POOL_SIZE } from '../worker/worker.ts';
import { LOOK, LOOK_FACTS, NOOP, NOOP_FACTS } from './definitions.ts';
import { inParallel } from './lanes.ts';
import { noop, twinActivities } from './twin/activities.ts';
import { twinAttributes } from './twin/search-attributes.ts';

export type Side = 'sentinel' | 'twin';

export interface WorkerSpec {
  side: Side;
  taskQueue: string;
  address: string;
  databaseUrl: string;
  project: string;
  packageRoot: string;
  /** The file of the twin's workflow code: bundling here would leave the process a larger heap, which V8 then collects less often. */
  twinBundle: string;
  options: Partial<WorkerOptions>;
  /** Where the model answers; empty where none is asked. */
  modelUrl: string;
}

export interface Usage {
  cpuMs: number;
  rssBytes: number;
  /** Runs that waited for an event and that this worker told of it. */
  woken: number;
}

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
  run(work: Work): Promise<void>;
  woken(): number;
}

/** A definition for Sentinel; a workflow and its arguments for the twin. */
export interface Work {
  definition?: Definition;
  workflow?: { type: string; args: unknown[] };
}

export interface Lanes {
  work: Work;
  count: number;
  width: number;
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
      },
    };
  }
  const store = openStore({ url: spec.databaseUrl, poolSize: STORE_POOL_SIZE });
  const bundle = await loadBundle(spec.packageRoot);
  const parts = { store, connection, namespace: 'default', keys: await keysOf(store), taskQueues: [taskQueue], bundle };
  const models = spec.modelUrl === '' ? {} : { models: modelsAt(spec) };
  const commands = [noopCommand, lookOf(spec.modelUrl)];
  const worker = await startWorker({ ...parts, ...models, commands, options: { ...settings, ...options } });
  const { starting } = worker;
  return {
    woken: () => worker.woken(),
    async end() {
      await worker.shutdown();
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
    process.send?.(await inParallel(count, width, () => side.run(work)));
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
