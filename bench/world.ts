/** The stage with a worker on either side, and the two ways to run something on it from start to result. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { builtInCatalogue } from '../systems/catalogue.ts';
import type { Catalogue } from '../language/catalogue.ts';
import type { Definition } from '../language/model.ts';
import { startRun } from '../runs/start-run.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { openStore } from '../prisma/store/open-store.ts';
import { sealedClient } from '../runs/temporal-connection.ts';
import { keysIn, newKeyText } from '../services/config/seal-key.ts';
import { APPEND, APPEND_FACTS, LOOK, LOOK_FACTS, NOOP, NOOP_FACTS, seeding } from './definitions.ts';
import { openStage, type Stage } from './stage.ts';
import { createTwinTable } from './twin/activities.ts';
import { writeTwinBundle } from './twin/bundle.ts';
import { twinAttributes } from './twin/search-attributes.ts';
import type { TwinWorkflow } from './twin/workflows.ts';
import { forkWorker, type WorkerHandle } from './worker-handle.ts';
import type { Side, WorkerSpec } from './work.ts';

export const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A run of the twin that takes longer stands still, and would hold up the measurement for ever. */
export const TWIN_MAX = '5 minutes';

export interface Timed {
  workflowId: string;
  ms: number;
}

/** What two workers of one side can differ in. */
export type OwnOfWorker = Pick<WorkerSpec, 'taskQueue' | 'modelUrl' | 'project' | 'home' | 'hasStates'>;

export interface World {
  stage: Stage;
  store: Store;
  client: Client;
  /** What is written by hand seals nothing, and its worker could open nothing. */
  plain: Client;
  /** The commands that a worker of Sentinel has. */
  catalogue: Catalogue;
  /** The file of the twin's workflow code. */
  twinBundle: string;
  workers: { [side in Side]: WorkerHandle };
  /** Starts one more worker of a side. */
  fork(side: Side, own?: Partial<OwnOfWorker>): Promise<WorkerHandle>;
  runSentinel(definition: Definition): Promise<Timed>;
  runTwin(type: TwinWorkflow, args: unknown[]): Promise<Timed>;
  end(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const stage = await openStage();
  try {
    return await worldOn(stage);
  } catch (error) {
    await stage.end();
    throw error;
  }
}

async function worldOn(stage: Stage): Promise<World> {
  const { address, databaseUrl, project } = stage;
  await createTwinTable(databaseUrl);
  const store = openStore({ url: databaseUrl });
  const connection = await Connection.connect({ address });
  const keys = keysIn(await store.sealKey(newKeyText()));
  const client = sealedClient({ connection, namespace: 'default', store, keys });
  const plain = new Client({ connection, namespace: 'default' });
  const catalogue = { ...builtInCatalogue(), [NOOP]: NOOP_FACTS, [LOOK]: LOOK_FACTS, [APPEND]: APPEND_FACTS };
  const twinBundle = await writeTwinBundle(stage.folder);
  const fork: World['fork'] = (side, own = {}) =>
    forkWorker({
      side,
      taskQueue: side,
      address,
      databaseUrl,
      project,
      packageRoot,
      twinBundle,
      options: {},
      modelUrl: '',
      home: '',
      hasStates: false,
      ...own,
    });
  const workers = { sentinel: await fork('sentinel'), twin: await fork('twin') };
  const world: World = {
    stage,
    store,
    client,
    plain,
    catalogue,
    twinBundle,
    workers,
    fork,
    async runSentinel(definition) {
      const startedAt = performance.now();
      const started = await startRun(
        { store, client, catalogue, taskQueue: 'sentinel' },
        { definition, inputs: {}, project, persona: 'bench' },
      );
      await client.workflow.getHandle(started.workflowId).result();
      return { workflowId: started.workflowId, ms: performance.now() - startedAt };
    },
    runTwin: (type, args) => runTwin(plain, type, args),
    async end() {
      await Promise.allSettled([workers.sentinel.end(), workers.twin.end()]);
      await Promise.allSettled([store.close(), connection.close()]);
      await stage.end();
    },
  };
  await world.runSentinel(seeding);
  return world;
}

/** Of the last execution of a run, on either side. */
export async function historyOf(
  { client }: Pick<World, 'client'>,
  workflowId: string,
): Promise<{ events: number; bytes: number }> {
  const { historyLength, historySize = Number.NaN } = await client.workflow.getHandle(workflowId).describe();
  return { events: historyLength, bytes: historySize };
}

async function runTwin(client: Client, type: TwinWorkflow, args: unknown[]): Promise<Timed> {
  const startedAt = performance.now();
  const workflowId = `twin/${randomUUID()}`;
  await client.workflow.execute(type, {
    taskQueue: 'twin',
    workflowId,
    workflowExecutionTimeout: TWIN_MAX,
    args,
    typedSearchAttributes: twinAttributes,
  });
  return { workflowId, ms: performance.now() - startedAt };
}
