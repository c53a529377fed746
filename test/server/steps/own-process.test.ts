/** Own commands whose code never comes back, or ends its process: the step fails, and the worker and the other runs go on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let client: SentinelClient;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, z } from 'sentinel-engine/commands';

const own = (name, run, rest) =>
  defineCommand({
    name: 'own/' + name, description: 'Tries what a worker bears.', permission: 'read',
    params: z.strictObject({}), result: z.null(), run, ...rest,
  });
const loop = (_params, { project }) => {
  writeFileSync(join(project, 'looping'), String(process.pid));
  const end = Date.now() + 30_000;
  while (Date.now() < end);
  return null;
};

export default {
  commands: [
    own('loop', loop, { timeoutMs: 4_000 }),
    own('loop-for-long', loop),
    own('quick-loop', () => { for (;;); }, { speed: 'quick', timeoutMs: 1_000 }),
    own('exit', () => process.exit(3)),
    own('tidies', (_params, { project, signal }) => {
      writeFileSync(join(project, 'begun'), '');
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)));
    }),
    own('throw', () => { throw new Error('no luck'); }),
  ],
};
`,
  );
  worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project, SENTINEL_SILENT_SECONDS: '3' });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const own = (name: string, rest: object = {}): Step => ({
  type: 'command',
  command: `own/${name}`,
  params: {},
  ...rest,
});
const run = async (name: string, ...steps: Step[]): Promise<string> =>
  (await client.start(once(name, steps), { project: harness.project })).handle;

test.each([
  ['loop', 'STEP_TIMEOUT'],
  ['quick-loop', 'STEP_TIMEOUT'],
  ['exit', 'COMMAND_PROCESS_ENDED'],
])('own/%s fails its step with %s, and a run beside it goes on', async (name, code) => {
  const handle = await run(`own-process-${name}`, own(name));
  const beside = await run('own-process-beside', shell('echo done', { outputTo: 'said' }));
  expect(await harness.result(beside)).toMatchObject({ outcome: 'completed' });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'failed', failure: { code } });
  expect(worker.isAlive).toBe(true);
  expect(worker.output).not.toContain('has not answered');
});

test('what follows the failure of its step is done', async () => {
  const handle = await run(
    'own-process-goes-on',
    own('exit', { onError: 'skip' }),
    own('quick-loop', { onError: 'skip' }),
  );
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
});

test('where its code threw is in the log of its step', async () => {
  const handle = await run('own-process-throws', own('throw'));
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'failed',
    failure: { message: 'steps.0@1: own/throw: no luck' },
  });
  const lines = await harness.store.logs.read(handle, 'stderr', 0, 10);
  expect(lines.join('\n')).toMatch(/Error: no luck\n\s+at .*sentinel\.config\.ts:\d+/);
});

test('a run whose last step has ended all the same when it was cancelled ends as cancelled', async () => {
  const handle = await run('own-process-tidies', own('tidies'));
  await until(() => existsSync(join(harness.project, 'begun')));
  await client.cancel(handle);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled' });
});

test('a loop does not outlive its worker', async () => {
  const handle = await run('own-process-orphan', own('loop-for-long'));
  const file = join(harness.project, 'looping');
  await until(() => existsSync(file));
  const pid = Number(readFileSync(file, 'utf8'));
  await worker.kill9();
  await until(() => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
  worker = await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  await client.cancel(handle);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled' });
});
