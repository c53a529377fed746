/** Runs that take no cancellation are ended by force, with what is nested in them, asked by them, and was started by them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Forced } from '../../../client/client.ts';
import type { Step } from '../../../language/model.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../../../workflows/messages/messages.ts';
import { startWorker } from '../../../worker/worker.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, sharedAddresses, until } from '../harness/harness.ts';
import { isAlive } from '../harness/opened.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

const cancelled = {
  status: 'cancelled',
  outcome: 'cancelled',
  failure: { code: 'CANCELLED_BY_FORCE', message: expect.stringContaining('ada ended') as string },
};

async function force(handle: string): Promise<{ forced: Forced; report: unknown }> {
  const { code, out, err } = await harness.command('cancel', handle, '--force', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const { forced, ...report } = JSON.parse(out) as { forced: Forced };
  return { forced, report };
}

/** A process that outlives its step, and writes down its id. */
const lasting = (file: string): Step => ({
  type: 'command',
  command: 'code/shell/execute',
  params: { command: `echo $$ > ${file}; sleep 600`, wait: false },
});

const statusOf = async (handle: string): Promise<string> => (await harness.workflow(handle).describe()).status.name;

test('a run that no worker serves', async () => {
  const handle = await harness.start(once('waits', [shell('true')]));
  const { forced, report } = await force(handle);
  expect(report).toMatchObject({ ok: true, handle, ...cancelled });
  expect(forced.runs).toEqual([{ handle, workflow: 'terminated', row: 'settled', questions: 0, steps: 0 }]);
  expect(await statusOf(handle)).toBe('TERMINATED');
  const again = await harness.command('cancel', handle, '--force');
  expect({ code: again.code, err: again.err }).toMatchObject({ code: 1, err: expect.stringContaining('has ended') });
  const nobody = await harness.command('cancel', 'nobody', '--force');
  expect(nobody.code).toBe(4);
});

test('a run that Temporal started and that never came to be recorded', async () => {
  await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf('unrecorded'),
    taskQueue: harness.taskQueue,
    args: ['no start'],
  });
  const { forced, report } = await force('unrecorded');
  expect(report).toMatchObject({ handle: 'unrecorded', status: 'cancelled' });
  expect(forced.runs).toEqual([{ handle: 'unrecorded', workflow: 'terminated', row: 'none', questions: 0, steps: 0 }]);
  expect(await statusOf('unrecorded')).toBe('TERMINATED');
});

test('a run that Temporal has forgotten', async () => {
  await harness.store.runs.create({
    handle: 'forgotten',
    name: 'forgotten',
    definitionHash: '',
    project: harness.project,
    persona: 'tester',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
  const { forced } = await force('forgotten');
  expect(forced.runs).toEqual([{ handle: 'forgotten', workflow: 'unknown', row: 'settled', questions: 0, steps: 0 }]);
  expect(await harness.store.runs.find('forgotten')).toMatchObject(cancelled);
});

test('a run whose workflow task fails again and again, which does not hold up its worker either', async () => {
  const { client, store, taskQueue } = harness;
  const bundle = await bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, 'throwing-workflow.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  const connection = await NativeConnection.connect({ address: sharedAddresses().temporalAddress });
  onTestFinished(() => connection.close());
  const worker = await startWorker({
    store,
    connection,
    namespace: 'default',
    keys: harness.keys,
    taskQueues: [taskQueue],
    bundle,
  });
  const handle = await harness.start(once('throws', [shell('true')]));
  await until(async () => {
    const { events = [] } = await harness.history(handle);
    return (events ?? []).some(({ workflowTaskFailedEventAttributes: failed }) => (failed ?? null) !== null);
  });
  await client.workflow.getHandle(workflowIdOf(handle)).cancel();
  expect(await statusOf(handle)).toBe('RUNNING');
  const { forced } = await force(handle);
  expect(forced.runs).toMatchObject([{ handle, workflow: 'terminated', row: 'settled' }]);
  expect(await store.runs.find(handle)).toMatchObject(cancelled);
  const poisoned = await harness.start(once('throws', [shell('true')]));
  await until(async () => ((await harness.history(poisoned)).events ?? []).length > 3);
  const askedAt = Date.now();
  await worker.shutdown();
  expect(Date.now() - askedAt).toBeLessThan(10_000);
  await harness.workflow(poisoned).terminate();
});

test('a run with nested runs, questions and processes, whose worker is gone', { timeout: 120_000 }, async () => {
  const inner = once('inner', [lasting('inner.pid'), { type: 'approval', message: 'Ship it?' }]);
  const alone = once('alone', [shell('echo $$ > alone.pid; sleep 600')]);
  const worker = await harness.startWorker();
  const handle = await harness.start(
    once('outer', [
      lasting('outer.pid'),
      { type: 'sentinel', definition: alone, await: false },
      { type: 'sentinel', definition: inner },
      shell('touch never'),
    ]),
  );
  const pidIn = (file: string): number => {
    const path = join(harness.project, file);
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  };
  const files = ['inner.pid', 'outer.pid', 'alone.pid'];
  await until(async () => (await harness.store.inbox.list({ handle })).length === 1);
  await until(() => files.every((file) => pidIn(file) > 0));
  await worker.kill9();
  expect(files.map((file) => isAlive(pidIn(file)))).toEqual([true, true, true]);

  const { forced } = await force(handle);
  const [nested, detached] = [`${handle}/steps.2@1`, `${handle}/steps.1@1`];
  expect(new Set(forced.runs.map((run) => `${run.handle} ${run.workflow} ${run.row}`))).toEqual(
    new Set([handle, nested, detached].map((run) => `${run} terminated settled`)),
  );
  expect(forced.runs.find((run) => run.handle === nested)).toMatchObject({ questions: 1, steps: 1 });
  expect(forced.processes).toEqual({ ended: 3, left: [] });
  await until(() => files.every((file) => !isAlive(pidIn(file))), 10_000);
  for (const run of [handle, nested, detached]) {
    expect(await harness.store.runs.find(run)).toMatchObject(cancelled);
    expect(await statusOf(run)).toBe('TERMINATED');
  }
  expect(await harness.store.inbox.list({ handle })).toEqual([]);
  expect((await harness.store.executions.running()).filter((execution) => execution.handle.startsWith(handle))).toEqual(
    [],
  );
  expect(existsSync(join(harness.project, 'never'))).toBe(false);

  // A worker that comes later finds nothing to do.
  const later = await harness.startWorker();
  expect((await harness.run(once('after', [shell('echo on')]))).result).toMatchObject({ outcome: 'completed' });
  expect(await harness.store.runs.find(handle)).toMatchObject(cancelled);
  await later.stop();
});

test('a run whose worker lives: that worker ends its steps and its processes', async () => {
  const worker = await harness.startWorker();
  const handle = await harness.start(once('lives', [lasting('lives.pid'), shell('echo $$ > step.pid; sleep 600')]));
  const pids = (): number[] =>
    ['lives.pid', 'step.pid'].map((file) => {
      const path = join(harness.project, file);
      return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
    });
  await until(() => pids().every((pid) => pid > 0));
  const { code, out } = await harness.command('cancel', handle, '--force');
  expect(code).toBe(0);
  expect(out).toMatch(
    / was ended by force:\n {2}.*: its workflow was terminated, its row was settled, 1 step under way cut/,
  );
  expect(out).toMatch(/the processes of 1 step ended/);
  await until(() => pids().every((pid) => !isAlive(pid)), 20_000);
  await worker.stop();
});
