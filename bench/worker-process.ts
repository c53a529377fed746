/**
 * One worker in a process of its own, Sentinel's or the twin's, so that its processor time and memory
 * are its own. It answers each message with what it has used so far, and ends when told to.
 */
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { z } from 'zod';
import { defineCommand } from '../activities/commands/command.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { loadBundle } from '../worker/bundle.ts';
import { startWorker } from '../worker/worker.ts';
import { NOOP } from './definitions.ts';
import { noop, twinActivities } from './twin/activities.ts';

export type Side = 'sentinel' | 'twin';

export interface WorkerSpec {
  side: Side;
  taskQueue: string;
  address: string;
  databaseUrl: string;
  project: string;
  packageRoot: string;
  options: Partial<WorkerOptions>;
}

export interface Usage {
  cpuMs: number;
  rssBytes: number;
}

/** The same on both sides, and what a Sentinel worker sets. */
const settings: Partial<WorkerOptions> = { shutdownGraceTime: '10s', stickyQueueScheduleToStartTimeout: '5s' };

const noopCommand = defineCommand({ name: NOOP, params: z.looseObject({}), result: z.object({}), run: noop });

export function twinBundle(): Promise<{ code: string }> {
  const workflowsPath = fileURLToPath(new URL('./twin/workflows.js', import.meta.url));
  return bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook: (config) => ({ ...config, mode: 'production', devtool: 'inline-nosources-source-map', performance: { hints: false }, optimization: { minimize: false } }),
  });
}

async function startSide(spec: WorkerSpec): Promise<() => Promise<void>> {
  const connection = await NativeConnection.connect({ address: spec.address });
  const { taskQueue, options } = spec;
  if (spec.side === 'twin') {
    const workflowBundle = await twinBundle();
    const activities = twinActivities(spec.databaseUrl, spec.project);
    const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities: { ...activities }, ...settings, ...options });
    const running = worker.run();
    return async () => {
      worker.shutdown();
      await running;
    };
  }
  const store = openStore({ url: spec.databaseUrl });
  const clientConnection = await Connection.connect({ address: spec.address });
  const bundle = await loadBundle(spec.packageRoot);
  const parts = { store, connection, clientConnection, namespace: 'default', taskQueues: [taskQueue], bundle, commands: [noopCommand] };
  const worker = await startWorker({ ...parts, options: { ...settings, ...options } });
  return async () => {
    await worker.shutdown();
    await store.close();
  };
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() };
}

async function serve(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } } });
  const spec = JSON.parse(process.argv[2] ?? '{}') as WorkerSpec;
  const shutdown = await startSide(spec);
  const end = async (): Promise<void> => {
    await shutdown();
    process.exit(0);
  };
  process.on('message', (message) => {
    if (message === 'end') void end();
    else process.send?.(usage());
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
