/** A Sentinel worker in this process: one Temporal worker for each task queue it serves. */
import { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { createActivities } from '../activities/activities.ts';
import type { Command } from '../activities/commands/command.ts';
import { builtInCommands, createRegistry } from '../activities/commands/registry.ts';
import { runStarter, type StartParts } from '../client/start-run.ts';
import type { Store } from '../prisma/store/contract.ts';
import { payloadStorage } from '../prisma/store/payload-driver.ts';
import { RunRecorder } from './run-recorder.ts';

/** Each may hold one connection of the store and need a second: the pool is larger than this. */
export const SEGMENTS_AT_ONCE_MAX = 32;
export const STORE_POOL_SIZE = 48;

export interface WorkerParts {
  store: Store;
  connection: NativeConnection;
  namespace: string;
  taskQueues: readonly string[];
  bundle: WorkflowBundleOption;
  /** Commands beside the built-in ones. */
  commands?: readonly Command[];
  /** Overrides for tests and benchmarks, e.g. `maxCachedWorkflows: 0`. */
  options?: Partial<WorkerOptions>;
}

export interface RunningWorker {
  /** Starts runs here: their first task comes with the answer to the start, without a queue between. */
  starting: StartParts;
  /** Settles when every worker has stopped; rejects when one died. */
  done: Promise<void>;
  shutdown(): Promise<void>;
}

export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { store, namespace } = parts;
  const dataConverter = { externalStorage: payloadStorage(store) };
  const client = new Client({ connection: parts.connection, namespace, dataConverter });
  const recorder = new RunRecorder(store);
  const registry = createRegistry([...builtInCommands(), ...(parts.commands ?? [])]);
  const starting: StartParts = { store, client, taskQueue: parts.taskQueues[0] ?? '', isEager: true };
  const activities = createActivities({ store, registry, runs: runStarter(starting) });
  const workers = await Promise.all(
    parts.taskQueues.map((taskQueue) =>
      Worker.create({
        connection: parts.connection,
        namespace,
        taskQueue,
        workflowBundle: parts.bundle,
        activities,
        sinks: recorder.sinks(),
        dataConverter,
        maxConcurrentLocalActivityExecutions: SEGMENTS_AT_ONCE_MAX,
        shutdownGraceTime: '10s',
        defaultHeartbeatThrottleInterval: '2s',
        maxHeartbeatThrottleInterval: '5s',
        stickyQueueScheduleToStartTimeout: '5s',
        ...parts.options,
      }),
    ),
  );
  const running = workers.map((worker) => worker.run());
  const done = Promise.all(running).then(() => recorder.close());
  return {
    starting,
    done,
    async shutdown() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}
