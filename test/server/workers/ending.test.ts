/**
 * A worker that is told to end: its steps may come to their end, and run once; what does not end in time is
 * interrupted and runs again elsewhere; a second signal waits for nothing. No process is left behind.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { isAlive } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

const path = (name: string): string => join(harness.project, name);
const timesRun = (name: string): number =>
  readFileSync(path(`${name}.ran`), 'utf8')
    .trim()
    .split('\n').length;
const pidOf = (name: string): number =>
  Number(
    readFileSync(path(`${name}.ran`), 'utf8')
      .trim()
      .split('\n')
      .at(-1),
  );

/** Its step notes each time that it runs, and ends once there is a file of its name. */
async function begin(name: string, how = ''): Promise<string> {
  const line = `${how}echo $$ >> ${name}.ran; while [ ! -e ${name}.go ]; do sleep 0.1; done`;
  const handle = await harness.start(once(name, [shell(line), shell('true')]));
  await until(() => existsSync(path(`${name}.ran`)));
  // A segment has begun it, and its run goes on with it a moment later.
  await until(async () => (await harness.state(handle)).current.length > 0);
  return handle;
}

/** The run goes on with another worker, to its end. */
async function finish(name: string, handle: string): Promise<void> {
  writeFileSync(path(`${name}.go`), '');
  const worker = await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  await worker.stop();
}

const says = (worker: WorkerProcess, what: string): Promise<void> => until(() => worker.output.includes(what));

test('a step that ends within a minute runs once, and the worker says that it waits for it', async () => {
  const worker = await harness.startWorker();
  const handle = await begin('long');
  const ended = worker.stop();
  await says(worker, `worker: waiting for 1 step, up to 60 s: ${handle} steps.0@1; Ctrl-C again ends now\n`);
  await sleep(12_000);
  expect(worker.isAlive).toBe(true);
  writeFileSync(path('long.go'), '');
  await ended;
  await finish('long', handle);
  expect(timesRun('long')).toBe(1);
});

test.each([
  ['that ends when it is told to', 'told', ''],
  ['that does not listen', 'deaf', `trap '' TERM; `],
])('a step %s is interrupted when the time is over, and runs again', async (_title, name, how) => {
  const worker = await harness.startWorker({ SENTINEL_GRACE_SECONDS: '4' });
  const handle = await begin(name, how);
  const first = pidOf(name);
  const ended = worker.stop();
  await says(worker, `waiting for 1 step, up to 4 s: ${handle} steps.0@1`);
  await ended;
  expect(isAlive(first)).toBe(false);
  await finish(name, handle);
  expect(timesRun(name)).toBe(2);
});

test('what a segment has begun ends with its worker, too, and runs again', async () => {
  const worker = await harness.startWorker();
  const handle = await harness.start(
    once('begun', [shell('echo $$ >> begun.ran; while [ ! -e begun.go ]; do sleep 0.1; done')]),
  );
  await until(() => existsSync(path('begun.ran')));
  await worker.stop();
  await until(() => !isAlive(pidOf('begun')));
  await finish('begun', handle);
});

test('a second signal ends the worker and what its steps have started at once', async () => {
  const worker = await harness.startWorker();
  const [handle, other] = [await begin('first'), await begin('second', `trap '' TERM; `)];
  const ended = worker.stop();
  await says(worker, 'waiting for 2 steps, up to 60 s: ');
  worker.signal('SIGINT');
  await ended;
  for (const name of ['first', 'second']) await until(() => !isAlive(pidOf(name)));
  expect(worker.exitCode).toBe(130);
  await Promise.all([finish('first', handle), finish('second', other)]);
  expect([timesRun('first'), timesRun('second')]).toEqual([2, 2]);
});
