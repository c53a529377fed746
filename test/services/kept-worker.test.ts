/** The background worker on a private home, killed without notice while a run is at work. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SentinelClient } from '../../client/client.ts';
import { startRun } from '../../runs/start-run.ts';
import type { Definition, Step } from '../../language/model.ts';
import { openStore } from '../../prisma/store/open-store.ts';
import { sealedClient } from '../../runs/temporal-connection.ts';
import { homeKeys } from '../../services/seal/home-key.ts';
import { connectionOptions, readConfig } from '../../services/config/config.ts';
import type { DoctorEntry } from '../../services/doctor-entry.ts';
import { inspectServices } from '../../services/inspect-services.ts';
import { ensureServices, type ServicesOptions } from '../../services/ensure-services.ts';
import { stopServices } from '../../services/stop-services.ts';
import { openConnection } from '../../services/temporal/open-connection.ts';
import { choosePort } from '../../services/processes/ports.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import { catalogue } from '../catalogue.ts';
import { pidOf } from '../pids.ts';

let home: string;
let options: ServicesOptions & { env: NodeJS.ProcessEnv };

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'sentinel-worker-'));
  chmodSync(home, 0o755);
  const temporal = await choosePort([]);
  const ui = await choosePort([], new Set([temporal]));
  const { TEMPORAL_ADDRESS: _address, DATABASE_URL: _url, ...rest } = process.env;
  const ports = {
    SENTINEL_TEMPORAL_PORT: String(temporal),
    SENTINEL_TEMPORAL_UI_PORT: String(ui),
  };
  const own = { SENTINEL_HOME: home, SENTINEL_PROJECT: home, SENTINEL_SILENT_SECONDS: '8' };
  options = { supervisorProgram: inject('supervisorProgram'), env: { ...rest, ...ports, ...own } };
}, 120_000);

beforeAll(() =>
  writeFileSync(
    join(home, 'sentinel.config.ts'),
    `import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { defineCommand, z } from 'sentinel-engine/commands';
// Commands have processes of their own; what the configuration does when it is loaded, the worker does.
const asked = ${JSON.stringify(join(home, 'asked'))};
const isWorker = process.argv[1].endsWith('main.js');
if (isWorker)
  setInterval(() => {
    if (!existsSync(asked)) return;
    const what = readFileSync(asked, 'utf8');
    rmSync(asked);
    if (what === 'abort') process.abort();
    for (;;);
  }, 500);
// By then the worker has written down which step it is at.
const ask = (what) => new Promise(() => setTimeout(() => writeFileSync(asked, what), 1000));
export default {
  commands: [
    defineCommand({
      name: 'own/hold', permission: 'read', speed: 'long', params: z.strictObject({}), result: z.null(),
      run: () => ask('hold'),
    }),
    defineCommand({
      name: 'own/abort', permission: 'read', speed: 'quick', params: z.strictObject({}), result: z.null(),
      run: async (_params, { project }) => {
        appendFileSync(project + '/aborts', 'one ');
        return ask('abort');
      },
    }),
  ],
};
`,
  ),
);

afterAll(async () => {
  await stopServices(options);
  rmSync(home, { recursive: true, force: true });
}, 120_000);

test(
  'a worker that is killed is started again by its supervisor, and the run that it was at goes on',
  { timeout: 180_000 },
  async () => {
    const { supervisor, worker } = await ensureServices(options);
    const old = worker?.process;
    if (!old) throw new Error('the worker is not recorded');
    const config = readConfig(options.env);
    const store = openStore({ url: config.database.url ?? '' });
    const connection = await openConnection(connectionOptions(config), 10_000);
    try {
      const client = sealedClient({ connection, namespace: 'default', store, keys: homeKeys(home) });
      const steps = ['touch begun; while [ ! -e go ]; do sleep 0.1; done', 'touch ended'].map((command): Step => ({
        type: 'shell',
        command,
      }));
      const definition: Definition = { name: 'outlives', loop: { type: 'once' }, steps };
      const { handle } = await startRun(
        { store, client, catalogue, taskQueue: worker.taskQueues[0] ?? '' },
        { definition, inputs: {}, project: home, persona: 'tester' },
      );
      await expect.poll(() => existsSync(join(home, 'begun')), { timeout: 30_000 }).toBe(true);
      process.kill(old.pid, 'SIGKILL');
      await expect.poll(() => isAlive(old)).toBe(false);
      // Nobody asks for the services meanwhile: the supervisor has to see it by itself.
      await expect
        .poll(() => readServicesState(home)?.worker?.process, { timeout: 60_000 })
        .toMatchObject({ restarts: 1, status: 'up' });
      const after = readServicesState(home);
      expect(after?.worker?.process?.pid).not.toBe(old.pid);
      expect(after?.supervisor.pid).toBe(supervisor.pid);
      writeFileSync(join(home, 'go'), '');
      await client.workflow.getHandle(workflowIdOf(handle)).result();
      expect(existsSync(join(home, 'ended'))).toBe(true);
    } finally {
      await connection.close();
      await store.close();
    }
  },
);

test('a quick command that crashes the worker fails once three workers were lost with it', async () => {
  await ensureServices(options);
  const client = new SentinelClient({ env: options.env, startsServices: false });
  try {
    const abort: Step = { type: 'command', command: 'own/abort', params: {} };
    const { handle } = await client.start(
      { name: 'aborts', loop: { type: 'once' }, steps: [abort] },
      { project: home },
    );
    expect(await client.result(handle)).toMatchObject({ outcome: 'failed', failure: { code: 'STEP_LOST_WORKERS' } });
    expect(readFileSync(join(home, 'aborts'), 'utf8')).toBe('one '.repeat(3));
  } finally {
    await client.close();
  }
}, 180_000);

const worker = async (): Promise<DoctorEntry | undefined> =>
  (await inspectServices(options.env)).entries.find(({ name }) => name === 'worker');

test(
  'a worker that is stopped, or whose event loop does not answer, is not said to be up',
  { timeout: 180_000 },
  async () => {
    const { worker: kept } = await ensureServices(options);
    const pid = pidOf(kept?.process);
    expect(await worker()).toMatchObject({ ok: true });
    process.kill(pid, 'SIGSTOP');
    expect(await worker()).toMatchObject({
      ok: false,
      found: expect.stringContaining('stopped by a signal') as string,
    });
    process.kill(pid, 'SIGCONT');
    const client = new SentinelClient({ env: options.env, startsServices: false });
    try {
      const hold: Step = { type: 'command', command: 'own/hold', params: {} };
      const { handle } = await client.start(
        { name: 'holds', loop: { type: 'once' }, steps: [hold] },
        { project: home },
      );
      await expect.poll(worker, { timeout: 30_000 }).toMatchObject({
        ok: false,
        found: expect.stringMatching(
          /its event loop has not answered for \d+ s, while it was at holds-\w+ steps\.0@1/,
        ) as string,
        remedy: expect.stringContaining('SENTINEL_SILENT_SECONDS') as string,
      });
      await expect.poll(worker, { timeout: 60_000 }).toMatchObject({
        ok: true,
        found: expect.stringMatching(/ended once in the last hour .* while it was at holds-/) as string,
      });
      await client.cancel(handle, { force: true });
    } finally {
      await client.close();
    }
  },
);
