/**
 * What a durability test works with: a database, a task queue and a project folder of its own on real
 * services, workers as processes, and runs that are started, watched and compared.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { execa } from 'execa';
import { inject } from 'vitest';
import { sealedClient, viewerOf } from '../../../runs/temporal-connection.ts';
import { startRun, type StartRequest } from '../../../runs/start-run.ts';
import { ownRoot } from '../../../services/home/package-root.ts';
import { keysIn, newKeyText, type SealKeys } from '../../../services/config/seal-key.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Catalogue } from '../../../language/catalogue.ts';
import type { Definition } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { everyEvent } from '../../../prisma/store/runs/every-event.ts';
import { migrate } from '../../../prisma/store/connection/migrate.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import type { RunResult } from '../../../interpreter/outcome.ts';
import {
  QUERIES,
  UPDATES,
  workflowIdOf,
  type ControlVerb,
  type RunState,
} from '../../../workflows/messages/messages.ts';
import { createDatabase } from '../../postgres.ts';
import { WorkerProcess } from './worker-process.ts';
import { catalogue } from '../../catalogue.ts';
import { KeptFolder, keptRoot } from '../../../world/processes/kept/kept-folder.ts';
import { isThere } from '../../../world/processes/kept/kept-process.ts';
import { endAllKept } from '../../../world/processes/kept/kept-processes.ts';
import { groupsBelow } from '../../../world/processes/process-table.ts';

/** The command line as it is built. */
export const CLI = join(ownRoot, 'dist', 'cli', 'main.js');

export interface Said {
  code: number;
  out: string;
  err: string;
}

export interface Addresses {
  temporalAddress: string;
  postgresUrl: string;
}

export const sharedAddresses = (): Addresses => ({
  temporalAddress: inject('temporalAddress'),
  postgresUrl: inject('postgresUrl'),
});

type StartOptions = Partial<
  Pick<StartRequest, 'inputs' | 'handle' | 'continueEvery' | 'known' | 'persona' | 'policies' | 'project'>
>;

export class Harness {
  readonly store: Store;
  readonly client: Client;
  /** As whoever shares the database has them. */
  readonly keys: SealKeys;
  readonly databaseUrl: string;
  readonly taskQueue: string;
  /** The project of a run that is given no other. */
  readonly project: string;
  private readonly addresses: Addresses;
  /** Variables of whatever is started here, a worker that the command line brings up among it. */
  variables: Record<string, string> = {};
  /** What the definitions of runs may name, commands of the project among it. */
  catalogue: Catalogue = catalogue;
  private readonly workers: WorkerProcess[] = [];

  private constructor(addresses: Addresses, databaseUrl: string, connection: Connection, keys: SealKeys) {
    this.keys = keys;
    this.addresses = addresses;
    this.databaseUrl = databaseUrl;
    this.taskQueue = `test-${randomUUID()}`;
    this.project = mkdtempSync(join(tmpdir(), 'sentinel-project-'));
    this.store = openStore({ url: databaseUrl });
    this.client = sealedClient({ connection, namespace: 'default', store: this.store, keys });
  }

  static async open(addresses: Addresses = sharedAddresses()): Promise<Harness> {
    const database = await createDatabase(addresses.postgresUrl);
    await migrate(database.url);
    const connection = await Connection.connect({ address: addresses.temporalAddress });
    const store = openStore({ url: database.url, poolSize: 1 });
    const keys = keysIn(await store.sealKey(newKeyText()));
    await store.close();
    return new Harness(addresses, database.url, connection, keys);
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.kill9()));
    // The command line may have brought up a supervisor, which would outlive the tests.
    if (existsSync(join(this.home, 'services.json'))) await this.command('down');
    await endAllKept(keptRoot(this.home));
    await this.client.connection.close();
    await this.store.close();
    // What a killed worker had begun may still write there.
    rmSync(this.project, { recursive: true, force: true, maxRetries: 5 });
  }

  /** As a power cut leaves them: neither the processes that outlive a worker nor their outcomes are to be found. */
  async loseProcesses(): Promise<void> {
    for (const folder of KeptFolder.all(keptRoot(this.home))) {
      const { keeper } = folder;
      const below = keeper === null ? [] : await groupsBelow(keeper.pid);
      for (const group of below) process.kill(-group, 'SIGKILL');
      await until(async () => keeper === null || !(await isThere(keeper)));
      rmSync(join(folder.path, 'outcome'), { force: true });
    }
  }

  private get home(): string {
    return join(this.project, '.sentinel');
  }

  /** What makes a program of Sentinel's work on these services. */
  get env(): Record<string, string> {
    return {
      TEMPORAL_ADDRESS: this.addresses.temporalAddress,
      DATABASE_URL: this.databaseUrl,
      SENTINEL_TASK_QUEUES: this.taskQueue,
      SENTINEL_HOME: this.home,
      ...this.variables,
    };
  }

  /** The command line, said by ada in the project's folder. */
  /** Accepts the tools of an MCP server as a person does, who has seen what `mcp list` shows. */
  async acceptTools(server: string): Promise<Said> {
    const { out } = await this.command('mcp', 'list', '--json');
    const reports = JSON.parse(out) as { server: string; digest: string | null }[];
    const digest = reports.find((report) => report.server === server)?.digest;
    return this.command('mcp', 'accept', server, digest ?? 'unreachable');
  }

  async command(...args: string[]): Promise<Said> {
    const env = { ...this.env, USER: 'ada' };
    const {
      exitCode = -1,
      stdout,
      stderr,
    } = await execa(process.execPath, [CLI, ...args], {
      cwd: this.project,
      env,
      reject: false,
      timeout: 60_000,
      stripFinalNewline: false,
    });
    return { code: exitCode, out: stdout, err: stderr };
  }

  async startWorker(env: NodeJS.ProcessEnv = {}): Promise<WorkerProcess> {
    const worker = await WorkerProcess.start({ ...this.env, ...env });
    this.workers.push(worker);
    return worker;
  }

  async start(definition: Definition, options: StartOptions = {}): Promise<string> {
    const { store, client, taskQueue, project } = this;
    const { inputs = {}, ...rest } = options;
    const started = await startRun(
      { store, client, catalogue: this.catalogue, taskQueue },
      { definition, inputs, project, persona: 'tester', ...rest },
    );
    // All files share one Temporal server: it would be some other file's run that is watched.
    if (!started.isNew) throw new Error(`"${started.handle}" is the name of another run; give this one its own`);
    return started.handle;
  }

  workflow(handle: string): WorkflowHandle {
    return this.client.workflow.getHandle(workflowIdOf(handle));
  }

  /** How the run ended, however it ended. Goes on asking while a server is away. */
  async result(handle: string): Promise<RunResult> {
    for (;;) {
      try {
        return (await this.workflow(handle).result()) as RunResult;
      } catch (error) {
        const carried = error instanceof WorkflowFailedError ? resultIn(error.cause) : undefined;
        if (carried !== undefined) return carried;
        if (isCancellation(error)) return await this.cancelledResult(handle);
        if (error instanceof WorkflowFailedError) throw error;
        await sleep(500);
      }
    }
  }

  /** Temporal keeps no details of a cancelled workflow; the store has how it ended. */
  private async cancelledResult(handle: string): Promise<RunResult> {
    const run = await this.store.runs.find(handle);
    if (run?.outcome !== 'cancelled')
      throw new Error(`${handle} was cancelled, and the store says ${run?.outcome ?? 'nothing'}`);
    const { iterations, outputs } = run;
    return {
      outcome: run.outcome,
      status: 'cancelled',
      iterations,
      outputs: outputs ?? {},
      durationMs: (run.finishedAt ?? 0) - run.startedAt,
    };
  }

  async run(
    definition: Definition,
    options: StartOptions = {},
  ): Promise<{ handle: string; result: RunResult; events: RunEvent[] }> {
    const handle = await this.start(definition, options);
    const result = await this.result(handle);
    return { handle, result, events: await this.events(handle) };
  }

  async events(handle: string): Promise<RunEvent[]> {
    const all: RunEvent[] = [];
    for await (const event of everyEvent(this.store, handle)) all.push(event);
    return all;
  }

  state(handle: string): Promise<RunState> {
    return this.workflow(handle).query<RunState>(QUERIES.status);
  }

  say(handle: string, verb: ControlVerb): Promise<RunState> {
    const handleOfRun = this.workflow(handle);
    if (verb === 'stop') return handleOfRun.executeUpdate<RunState, []>(UPDATES.stop);
    return verb === 'pause'
      ? handleOfRun.executeUpdate<RunState, [string]>(UPDATES.pause, { args: ['the test says so'] })
      : handleOfRun.executeUpdate<RunState, [boolean]>(UPDATES.resume, { args: [true] });
  }

  async history(handle: string): Promise<History> {
    return this.workflow(handle).fetchHistory();
  }

  /** What a payload of the run's history holds. */
  async opened(payload: Payload): Promise<unknown> {
    const [plain = payload] = await viewerOf(this.client).decode([payload]);
    return defaultPayloadConverter.fromPayload(plain);
  }

  /** Rows of a collection, in the order of their making. */
  async rows(collection: string): Promise<JsonObject[]> {
    const session = this.store.session();
    try {
      const records = await this.store.records.list(session, { collection, limit: 1_000_000 });
      return records.map((record) => record.data);
    } finally {
      await session.close();
    }
  }

  async createRow(collection: string, id: string, data: JsonObject): Promise<void> {
    const session = this.store.session();
    await this.store.records.create(session, collection, id, data);
    await session.commit({ handle: 'test', key: randomUUID(), result: null, events: [] });
    await session.close();
  }

  /** Resolves when an event of the run satisfies the condition. */
  async untilEvent(handle: string, holds: (event: RunEvent) => boolean): Promise<void> {
    await until(async () => (await this.events(handle)).some(holds));
  }
}

function resultIn(cause: unknown): RunResult | undefined {
  return cause instanceof ApplicationFailure ? ((cause.details?.[0] ?? undefined) as RunResult | undefined) : undefined;
}

const isCancellation = (error: unknown): boolean =>
  error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure;

export async function until(holds: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${withinMs} ms in vain for: ${holds.toString()}`);
    await sleep(50);
  }
}

/** Fields that time and chance decide. */
const VARYING = new Set(['durationMs', 'createdAt', 'id', 'handle', 'startedAt', 'at', 'averageDurationMs']);

export function steady(value: unknown): Json {
  return JSON.parse(JSON.stringify(value, (name, field: unknown) => (VARYING.has(name) ? undefined : field))) as Json;
}
