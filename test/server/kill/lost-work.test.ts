/**
 * What a killed worker was at goes on as soon as there is another, and not after the timeouts of the Temporal server:
 * a missed heartbeat takes 15 s, a workflow task 10 s, a queue that nobody asks any more 5 s.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { giveBack } from '../harness/give-back.ts';
import { Harness, until } from '../harness/harness.ts';
import { holdTable } from '../harness/held-table.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

/** Of a workflow task, as Temporal describes it. */
const STARTED = 2;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

const linesOf = (name: string): string[] => {
  const path = join(harness.project, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

const long = (file: string) =>
  once('long', [shell(`echo began >> ${file}; until [ -e ${file}.go ]; do sleep 0.2; done`), create(file, {})]);

const described = async (handle: string) => (await harness.workflow(handle).describe()).raw;

/** A segment begins the step, and leaves it to an activity. */
async function untilLeft(handle: string, file: string): Promise<void> {
  await until(() => linesOf(file).length === 1);
  await until(async () => (await described(handle)).pendingActivities?.length === 1);
}

/** Nothing of the run has waited for a timeout. */
async function timeoutsOf(handle: string): Promise<string[]> {
  const { events = [] } = await harness.history(handle);
  return (events ?? []).flatMap((event) => {
    const { lastFailure } = event.activityTaskStartedEventAttributes ?? {};
    if (lastFailure?.timeoutFailureInfo) return [`attempt after ${lastFailure.message}`];
    return event.workflowTaskTimedOutEventAttributes ? [`workflow task ${String(event.eventId)}`] : [];
  });
}

test('a long step is tried again at once', async () => {
  const first = await harness.startWorker();
  const handle = await harness.start(long('long'));
  await untilLeft(handle, 'long');
  await first.kill9();
  expect(await giveBack(harness)).toEqual(['1 steps and 0 workflow tasks']);
  expect((await described(handle)).pendingActivities).toMatchObject([
    { attempt: 2, lastFailure: { applicationFailureInfo: { type: 'WORKER_LOST' } } },
  ]);
  const second = await harness.startWorker();
  writeFileSync(join(harness.project, 'long.go'), '');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await timeoutsOf(handle)).toEqual([]);
  await second.stop();
});

test.each([1, 3])('a workflow task that was under way is handed out at once, after deaths: %i', async (deaths) => {
  const held = await holdTable(harness, 'inbox');
  let worker = await harness.startWorker();
  const handle = await harness.start(once('task', [{ type: 'approval', message: 'Go on?' }]), {
    handle: `lost-task-${deaths}`,
  });
  for (let death = 1; death <= deaths; death += 1) {
    await until(async () => Number((await described(handle)).pendingWorkflowTask?.state) === STARTED);
    await until(() => held.isAwaited());
    await worker.kill9();
    expect(await giveBack(harness)).toContain('0 steps and 1 workflow tasks');
    if (death === deaths) await held.letGo();
    worker = await harness.startWorker();
  }
  await harness.untilEvent(handle, (event) => event.type === 'asked');
  expect(await timeoutsOf(handle)).toEqual([]);
  await harness.workflow(handle).cancel();
  await harness.result(handle);
  await worker.stop();
});

test('a task that came while there was no worker does not wait in the queue of the dead one', async () => {
  const first = await harness.startWorker();
  const handle = await harness.start(
    once('waits', [shell('true'), { type: 'sleep', durationMs: 1500 }, create('waited', {})]),
  );
  await until(async () => (await harness.events(handle)).filter(({ type }) => type === 'step-started').length === 2);
  await first.kill9();
  await sleep(2000);
  expect(await giveBack(harness)).toEqual(['0 steps and 1 workflow tasks']);
  const second = await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await timeoutsOf(handle)).toEqual([]);
  await second.stop();
});

const asking = once('asking', [{ type: 'approval', message: 'Go on?' }, create('asked', {})]);

/** The task that brings it is with a worker that does nothing more, and in no history. */
async function answerStopped(worker: WorkerProcess, handle: string): Promise<void> {
  await harness.untilEvent(handle, (event) => event.type === 'asked');
  worker.signal('SIGSTOP');
  const client = new SentinelClient({ env: harness.env, startsServices: false });
  onTestFinished(() => client.close());
  client.answer(handle, { choice: 'approve', by: 'tester' }).catch(() => undefined);
  await until(async () => Number((await described(handle)).pendingWorkflowTask?.state) === STARTED);
}

test('a workflow task that only brought an answer is handed out at once', async () => {
  const first = await harness.startWorker();
  const handle = await harness.start(asking);
  await answerStopped(first, handle);
  expect(await giveBack(harness)).toEqual([]);
  await first.kill9();
  expect(await giveBack(harness)).toEqual(['0 steps and 1 workflow tasks']);
  const second = await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await timeoutsOf(handle)).toEqual([]);
  await second.stop();
});

test('such a task is left alone where another worker that lives may have it', async () => {
  const first = await harness.startWorker();
  const handle = await harness.start(asking);
  await answerStopped(first, handle);
  const second = await harness.startWorker();
  await first.kill9();
  expect(await giveBack(harness)).toEqual(['0 steps and 0 workflow tasks']);
  await harness.workflow(handle).terminate();
  await second.stop();
});

test('nothing is taken from a worker that is only stopped', async () => {
  const first = await harness.startWorker();
  const handle = await harness.start(long('stopped'));
  await untilLeft(handle, 'stopped');
  first.signal('SIGSTOP');
  expect(await giveBack(harness)).toEqual([]);
  const { pendingActivities } = await described(handle);
  expect(pendingActivities).toMatchObject([{ attempt: 1 }]);
  expect(await giveBack(harness, true)).toEqual([]);
  await first.kill9();
  expect(await giveBack(harness, true)).toEqual(['1 steps and 0 workflow tasks']);
  expect(readdirSync(join(harness.project, '.sentinel', 'workers'))).toEqual([]);
  await harness.workflow(handle).terminate();
});
