/** Long commands with a task queue of their own: who performs them, how many at once, and what is said while nobody does. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { once } from '../harness/definitions.ts';
import { CLI, Harness } from '../harness/harness.ts';
import { WorkerProcess } from '../harness/worker-process.ts';
import { LAB } from './lab-project.ts';

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(join(harness.project, 'sentinel.config.ts'), LAB);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

const start = (handle: string, command: string, params: { [name: string]: string | number }) =>
  client.start(once(handle, [{ type: 'command', command, params, outputTo: 'done' }]), {
    handle,
    project: harness.project,
  });
const log = (queue: string): string[] =>
  readFileSync(join(harness.project, `${queue}.log`), 'utf8')
    .trim()
    .split('\n');

test('the worker of the runs performs as many at once as the queue says, on a queue of the project', async () => {
  const handles = ['train-1', 'train-2', 'train-3'];
  for (const handle of handles) await start(handle, 'lab/train', { what: handle, waitMs: 400 });
  for (const handle of handles)
    expect(await client.result(handle)).toMatchObject({ status: 'completed', outputs: { done: { what: handle } } });
  const lines = log('bench');
  expect(lines).toHaveLength(6);
  for (let at = 0; at < lines.length; at += 2) {
    const what = (lines[at] ?? '').replace('begins ', '');
    expect(lines.slice(at, at + 2)).toEqual([`begins ${what}`, `ends ${what}`]);
  }
  const { events = [] } = await harness.workflow('train-1').fetchHistory();
  const queues = events?.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [scheduled.taskQueue?.name] : [],
  );
  expect(queues).toEqual([`${harness.taskQueue}/bench`]);
});

test('a step on a queue that nobody serves waits, which is told, until a worker serves that queue alone', async () => {
  await start('render-1', 'lab/render', { what: 'a room' });
  const said = async (): Promise<string> => (await harness.command('status', 'render-1')).out;
  await expect.poll(said, { timeout: 20_000 }).toContain('nobody serves the queue "gpu"');
  const standing = JSON.parse((await harness.command('status', 'render-1', '--json')).out) as { queued: unknown };
  expect(standing.queued).toEqual([{ step: 'steps.0@1', queue: 'gpu', workers: 0 }]);
  const entries = async (): Promise<unknown[]> => {
    const { out } = await harness.command('doctor', '--json');
    return (JSON.parse(out) as { entries: { name: string }[] }).entries.filter(({ name }) => name.startsWith('queue '));
  };
  expect(await entries()).toMatchObject([
    { name: 'queue bench', ok: true, found: expect.stringContaining('1 workers serve it') as string },
    { name: 'queue gpu', ok: false, remedy: expect.stringContaining('sentinel worker --queue gpu') as string },
  ]);
  const env = { ...harness.env, SENTINEL_PROJECT: harness.project };
  const other = await WorkerProcess.start(env, [CLI, 'worker', '--queue', 'gpu']);
  try {
    expect(other.output).toContain(`"taskQueues":["${harness.taskQueue}/gpu"]`);
    expect(await client.result('render-1')).toMatchObject({ status: 'completed' });
    expect(log('gpu')).toEqual(['begins a room', 'ends a room']);
    expect(await entries()).toMatchObject([{ ok: true }, { name: 'queue gpu', ok: true }]);
    expect((await harness.command('status', 'render-1')).out).not.toContain('gpu');
  } finally {
    await other.stop();
  }
});

test('a queue that no system states is refused with those there are', async () => {
  const { code, err } = await harness.command('worker', '--queue', 'tpu');
  expect(code).not.toBe(0);
  expect(err).toContain('No system of the project states a queue "tpu"; there are training, bench, gpu.');
});

test('no command calls one of another queue', async () => {
  await start('calls', 'lab/calls', {});
  expect(await client.result('calls')).toMatchObject({
    status: 'failed',
    failure: { code: 'RIGHTS_EXCEEDED', message: expect.stringContaining('on the queue "bench"') as string },
  });
});
