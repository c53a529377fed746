/** A step that takes its workers by what it needs of their memory, by an error that nobody catches, or by ending the process. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const piece = () => Array.from({ length: 10_000 }, (_, index) => ({ index, text: 'text ' + index }));
const fill = async () => {
  for (const all = []; ; await sleep(1)) all.push(piece());
};
const deeds = {
  fill,
  'fill-at-once': () => {
    for (const all = []; ; ) all.push(piece());
  },
  throw: () => { throw new Error('nobody catches this'); },
  exit: () => process.exit(3),
  large: async () => {
    const all = Array.from({ length: 40 }, piece);
    await sleep(2_000);
    return all.length;
  },
};

// Commands have processes of their own; what the configuration does when it is loaded, the worker does.
const asked = ${JSON.stringify(join(harness.project, 'asked'))};
const isWorker = process.argv[1].endsWith('main.js');
if (isWorker)
  setInterval(() => {
    if (!existsSync(asked)) return;
    const name = readFileSync(asked, 'utf8');
    rmSync(asked);
    void deeds[name]();
  }, 500);

const own = (name, speed, run) =>
  defineCommand({
    name: 'own/' + name, description: 'Tries what a worker bears.', permission: 'read', speed,
    params: z.strictObject({}), result: z.null(),
    run: async (_params, { project }) => {
      appendFileSync(join(project, name + '.txt'), 'one\\n');
      await run(name);
      return null;
    },
  });
const never = new Promise(() => undefined);
const ask = (name) => {
  writeFileSync(asked, name);
  return never;
};

export default {
  commands: [
    own('fill', 'long', ask),
    own('fill-at-once', 'quick', ask),
    own('throw', 'long', ask),
    own('exit', 'long', ask),
    own('large', 'long', (name) => {
      writeFileSync(asked, name);
      return sleep(3_000);
    }),
    own('wait', 'long', () => sleep(4_000)),
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
  harness.startWorker({ SENTINEL_PROJECT: harness.project, NODE_OPTIONS: '--max-old-space-size=300' });
const own = (name: string): Step => ({ type: 'command', command: `own/${name}`, params: {} });
const run = async (...steps: Step[]): Promise<string> =>
  (await client.start(once('spent', steps), { project: harness.project })).handle;
const begun = (name: string): number => {
  const file = join(harness.project, `${name}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
};

test.each([
  ['fill', 'heap out of memory'],
  ['fill-at-once', 'heap out of memory'],
  ['throw', 'nobody catches this'],
  ['exit', 'ready'],
])(
  'own/%s takes three workers, and fails on the fourth, which goes on',
  async (name, words) => {
    let worker = await start();
    const beside = await run(shell('sleep 2; echo done', { outputTo: 'said' }));
    const handle = await run(own(name));
    for (let lost = 1; lost <= 3; lost += 1) {
      await until(() => !worker.isAlive, 120_000);
      expect(worker.output).toContain(words);
      worker = await start();
    }
    const ended = await harness.result(handle);
    expect(ended).toMatchObject({ outcome: 'failed', failure: { code: 'STEP_LOST_WORKERS' } });
    expect(begun(name)).toBe(3);
    expect(worker.isAlive).toBe(true);
    expect(await harness.result(beside)).toMatchObject({ outcome: 'completed' });
    await worker.stop();
  },
  300_000,
);

test('a step that needs much and gets it, and one whose workers somebody kills, end as they should', async () => {
  let worker = await start();
  expect(await harness.result(await run(own('large')))).toMatchObject({ outcome: 'completed' });
  const handle = await run(own('wait'));
  for (let killed = 1; killed <= 4; killed += 1) {
    await until(() => begun('wait') === killed);
    await worker.kill9();
    worker = await start();
  }
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  await worker.stop();
}, 300_000);
