/**
 * Loops too long for the everyday suite: bounded history, constant memory, linear time, and
 * continue-as-new when Temporal suggests it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { counted, create } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const MIB = 1024 * 1024;
const hour = 3_600_000;

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

/** What the worker had used when each of the given numbers of passes was done. */
async function observe(handle: string, marks: readonly number[]): Promise<{ ticks: number; bytes: number }[]> {
  const seen: { ticks: number; bytes: number }[] = [];
  for (const mark of marks) {
    while ((await harness.state(handle)).iteration < mark) await sleep(200);
    seen.push(used());
  }
  return seen;
}

const used = (): { ticks: number; bytes: number } => ({ ticks: worker.processorTicks(), bytes: worker.memory().now });

const continued = async (handle: string): Promise<boolean> => {
  const { raw } = await harness.workflow(handle).describe();
  return raw.workflowExecutionInfo?.firstRunId !== raw.workflowExecutionInfo?.execution?.runId;
};

test('100,000 passes of one quick command', { timeout: hour }, async () => {
  const reads = [{ type: 'command', command: 'data/read', params: { collection: 'none' }, outputTo: 'it' }] as const;
  // How much a process takes before it collects is settled after the first hundred thousand passes.
  await harness.run(counted('settles', 100_000, [...reads]));
  const before = used();
  const handle = await harness.start(counted('long', 100_000, [...reads]));
  const [early, half] = await observe(handle, [10_000, 55_000]);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', iterations: 100_000 });
  const end = used();
  expect(end.bytes - before.bytes).toBeLessThan(50 * MIB);
  // Linear: of the passes after the first ones, the later half uses no more of the processor than the
  // earlier one. What else a machine does changes how long they take, and that little.
  const earlier = (half?.ticks ?? 0) - (early?.ticks ?? 0);
  expect(earlier).toBeGreaterThan(0);
  expect(end.ticks - (half?.ticks ?? 0)).toBeLessThan(earlier * 1.3);
  expect((await harness.workflow(handle).describe()).historyLength).toBeLessThan(20_000);
});

test(
  'whoever follows 100,000 passes sees them one after the other, and the last one last',
  { timeout: hour },
  async () => {
    // Partly the run's own steps and partly segments, which are written each in its own way.
    const handle = await harness.start(counted('followed', 100_000, [{ type: 'condition', check: 'true', then: [] }]));
    const { code, out } = await harness.command('follow', handle);
    expect(code).toBe(0);
    const passes = [...out.matchAll(/^pass (\d+) ended$/gm)].map(([, pass]) => Number(pass));
    expect(passes).toEqual(Array.from({ length: 100_000 }, (_, n) => n + 1));
  },
);

test('10,000 passes, each step an activity, continue as new by themselves', { timeout: hour }, async () => {
  const handle = await harness.start(
    counted('stepwise', 10_000, [create('stepwise', { pass: '$iteration' })], { durability: 'step' }),
  );
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', iterations: 10_000 });
  expect((await harness.rows('stepwise')).map((row) => row['pass'])).toEqual(
    Array.from({ length: 10_000 }, (_, i) => i + 1),
  );
  expect(await continued(handle)).toBe(true);
});
