/** A step that holds the event loop of its worker: the worker ends by itself, and the step fails after three of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../../client/client.ts';
import type { Step } from '../../../../language/model.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import type { WorkerProcess } from '../../harness/worker-process.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, z } from 'sentinel-engine/commands';

// Commands have processes of their own; what the configuration does when it is loaded, the worker does.
const asked = ${JSON.stringify(join(harness.project, 'asked'))};
const isWorker = process.argv[1].endsWith('main.js');
if (isWorker)
  setInterval(() => {
    if (!existsSync(asked)) return;
    const end = Date.now() + 1000 * Number(readFileSync(asked, 'utf8'));
    rmSync(asked);
    while (Date.now() < end);
  }, 50);

export default {
  commands: [
    defineCommand({
      name: 'own/glance', description: 'Has the worker compute.', permission: 'read', speed: 'quick',
      params: z.strictObject({}), result: z.null(),
      run: async (_params, { project }) => {
        appendFileSync(join(project, 'glances.txt'), 'one\\n');
        writeFileSync(asked, '600');
        return new Promise(() => undefined);
      },
    }),
    defineCommand({
      name: 'own/hold', description: 'Has the worker compute.', permission: 'read', speed: 'long',
      params: z.strictObject({ seconds: z.number() }), result: z.object({ seconds: z.number() }),
      run: async ({ seconds }, { project }) => {
        appendFileSync(join(project, 'holds.txt'), seconds + '\\n');
        writeFileSync(asked, String(seconds));
        await sleep(1000 * seconds);
        return { seconds };
      },
    }),
  ],
};
`,
  );
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const start = (): Promise<WorkerProcess> =>
  harness.startWorker({ SENTINEL_PROJECT: harness.project, SENTINEL_SILENT_SECONDS: '4' });
const hold = (seconds: number): Step => ({
  type: 'command',
  command: 'own/hold',
  params: { seconds },
  outputTo: 'held',
});
const run = async (...steps: Step[]): Promise<string> =>
  (await client.start(once('held', steps), { project: harness.project })).handle;
const begun = (): number => {
  try {
    return readFileSync(join(harness.project, 'holds.txt'), 'utf8').trim().split('\n').length;
  } catch {
    return 0;
  }
};

test('each worker ends by itself, the step fails after three, and what ran beside it goes on', async () => {
  let worker = await start();
  const beside = await run(shell('sleep 3; echo done', { outputTo: 'said' }));
  const held = await run(hold(600));
  for (let lost = 1; lost <= 3; lost += 1) {
    await until(() => !worker.isAlive, 120_000);
    expect(worker.output).toContain('the event loop has not answered');
    expect(worker.output).toContain(`${held} steps.0`);
    worker = await start();
  }
  const ended = await harness.result(held);
  expect(ended).toMatchObject({ outcome: 'failed', failure: { code: 'STEP_LOST_WORKERS' } });
  expect(worker.isAlive).toBe(true);
  expect(begun()).toBe(3);
  expect(await harness.result(beside)).toMatchObject({ outcome: 'completed' });
  await worker.stop();
}, 300_000);

test('a step that computes for a while, a worker that was stopped, and one that somebody kills are nothing of it', async () => {
  const worker = await start();
  const before = begun();
  const honest = await run(hold(1.5));
  expect(await harness.result(honest)).toMatchObject({ outcome: 'completed' });
  worker.signal('SIGSTOP');
  await sleep(8_000);
  worker.signal('SIGCONT');
  await sleep(2_000);
  expect(worker.isAlive).toBe(true);
  const handle = await run(hold(2));
  await until(() => begun() === before + 2);
  await worker.kill9();
  const next = await start();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(worker.output).not.toContain('has not answered');
  await next.stop();
}, 300_000);

test('a quick command that never ends fails after three workers, too, with the steps around it', async () => {
  let worker = await start();
  const glance: Step = { type: 'command', command: 'own/glance', params: {} };
  const quick: Step = { type: 'set', values: { a: 1 } };
  const held = await run(quick, glance, quick);
  for (let lost = 1; lost <= 3; lost += 1) {
    await until(() => !worker.isAlive, 120_000);
    worker = await start();
  }
  expect(await harness.result(held)).toMatchObject({ outcome: 'failed', failure: { code: 'STEP_LOST_WORKERS' } });
  expect(worker.isAlive).toBe(true);
  const glances = readFileSync(join(harness.project, 'glances.txt'), 'utf8').trim().split('\n');
  expect(glances).toHaveLength(3);
  await worker.stop();
}, 300_000);
