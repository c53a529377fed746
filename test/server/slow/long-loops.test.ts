/**
 * Loops too long for the everyday suite: bounded history, constant memory, linear time, and
 * continue-as-new when Temporal suggests it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { counted, create } from '../definitions.ts';
import { Harness } from '../harness.ts';
import type { WorkerProcess } from '../worker-process.ts';

const MIB = 1024 * 1024;
const hour = 3_600_000;

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

/** When each of the given numbers of passes was done, and the worker's memory then. */
async function observe(handle: string, marks: readonly number[]): Promise<{ atMs: number; bytes: number }[]> {
  const startedAt = Date.now();
  const seen: { atMs: number; bytes: number }[] = [];
  for (const mark of marks) {
    while ((await harness.state(handle)).iteration < mark) await sleep(200);
    seen.push({ atMs: Date.now() - startedAt, bytes: worker.memory().now });
  }
  return seen;
}

const continued = async (handle: string): Promise<boolean> => {
  const { raw } = await harness.workflow(handle).describe();
  return raw.workflowExecutionInfo?.firstRunId !== raw.workflowExecutionInfo?.execution?.runId;
};

test('100,000 passes of one quick command', { timeout: hour }, async () => {
  const handle = await harness.start(counted('long', 100_000, [{ type: 'command', command: 'data/read', params: { collection: 'none' }, outputTo: 'it' }]));
  const [early, half] = await observe(handle, [10_000, 50_000]);
  const result = await harness.result(handle);
  expect(result).toMatchObject({ outcome: 'completed', iterations: 100_000 });
  expect(worker.memory().now - (early?.bytes ?? 0)).toBeLessThan(50 * MIB);
  // Linear: the second half takes no longer than the first, give or take what else the machine does.
  const firstHalf = half?.atMs ?? 0;
  expect(result.durationMs - firstHalf).toBeLessThan(firstHalf * 1.3);
  expect((await harness.workflow(handle).describe()).historyLength).toBeLessThan(20_000);
});

test('10,000 passes, each step an activity, continue as new by themselves', { timeout: hour }, async () => {
  const handle = await harness.start(counted('stepwise', 10_000, [create('stepwise', { pass: '$iteration' })], { durability: 'step' }));
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', iterations: 10_000 });
  expect((await harness.rows('stepwise')).map((row) => row['pass'])).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
  expect(await continued(handle)).toBe(true);
});
