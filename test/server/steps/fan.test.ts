/** Parallel steps of quick branches on real services: how many local activities they are, and what comes of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, ParallelStep, Step } from '../../../language/model.ts';
import { create, list, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { shapeOf } from '../harness/trace-shape.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

/** Nothing that is tried again begins in a segment. */
const apart = (command: string, outputTo: string): Step => shell(command, { outputTo, retry: { attempts: 2 } });

const width = 20;
const fan = (branches: Step[][], rest: Partial<ParallelStep> = {}): Step => ({ type: 'parallel', branches, ...rest });
const wide = (branch: (index: number) => Step[]): Step[][] =>
  Array.from({ length: width }, (_, index) => branch(index));
const writes = (collection: string): Step[][] =>
  wide((n) => [create(collection, { n }, `row${n}`), { type: 'emit', event: `${collection}:$row${n}.n` }]);

/** Local activities and regular ones that a run's history holds. */
async function askedBy(handle: string): Promise<{ local: number; regular: number }> {
  const { events = [] } = await harness.history(handle);
  const count = (name: 'markerRecordedEventAttributes' | 'activityTaskScheduledEventAttributes'): number =>
    events?.filter((event) => event[name]).length ?? 0;
  return { local: count('markerRecordedEventAttributes'), regular: count('activityTaskScheduledEventAttributes') };
}

const numbersIn = async (collection: string): Promise<unknown[]> =>
  (await harness.rows(collection)).map(({ n }) => n).toSorted((a, b) => Number(a) - Number(b));
const all = Array.from({ length: width }, (_, n) => n);

const walked = (collection: string, rest: Partial<Definition> = {}): Definition =>
  once('fan', [fan(writes(collection)), list(collection, 'rows')], rest);

test('one local activity does a whole fan, and the trace is that of steps by themselves', async () => {
  const local: number[] = [];
  const stepwise = await harness.run(walked('stepwise', { durability: 'step' }));
  expect(await askedBy(stepwise.handle)).toEqual({ local: 0, regular: 2 * width + 1 });
  // On a machine that is busy, or cold, one that takes a quarter of a second is gone on with by another.
  for (let turn = 0; turn < 5; turn += 1) {
    const { handle, result, events } = await harness.run(walked(`walked-${turn}`));
    expect(result).toMatchObject({ outcome: 'completed', outputs: { row0: { n: 0 }, row19: { n: 19 } } });
    expect((result.outputs as { rows: unknown[] }).rows).toHaveLength(width);
    expect(await numbersIn(`walked-${turn}`)).toEqual(all);
    expect(shapeOf(events)).toEqual(shapeOf(stepwise.events));
    const asked = await askedBy(handle);
    expect(asked.local).toBeLessThan(width);
    local.push(asked.local);
  }
  expect(Math.min(...local)).toBe(1);
});

test('branches that come to a long step go on from there, and no step is done twice', async () => {
  const branches = wide((n) =>
    n % 10 === 3
      ? [create('mixed', { n }), apart(`echo ${n}`, `said${n}`), create('after', { n: `$said${n}.data` })]
      : [create('mixed', { n }), create('quick', { n })],
  );
  const { handle, result } = await harness.run(once('mixed-fan', [fan(branches), list('after', 'rows')]));
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: { said3: { stdout: '3\n' }, said13: { stdout: '13\n' } },
  });
  expect(await numbersIn('mixed')).toEqual(all);
  expect(await numbersIn('quick')).toEqual(all.filter((n) => n % 10 !== 3));
  expect(await numbersIn('after')).toEqual([3, 13]);
  // The fan; what stands behind either shell step; and what follows the fan.
  const asked = await askedBy(handle);
  expect(asked.regular).toBe(2);
  expect(asked.local).toBeGreaterThanOrEqual(4);
});

test('the first failure ends the fan, and what was done beside it is kept', async () => {
  const missing: Step = { type: 'command', command: 'code/read', params: { path: 'no-such-file' } };
  const branches = wide((n) => (n === 1 ? [missing] : [create('cut', { n }), missing, create('cut', { n: -1 })]));
  const { handle, result } = await harness.run(once('cut', [fan(branches, { failFast: true, maxConcurrency: 2 })]));
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'FILE_NOT_FOUND' } });
  expect(await numbersIn('cut')).toEqual([0]);
  expect((await askedBy(handle)).regular).toBe(0);
});

test('a run goes on as a new one in the middle of a fan', async () => {
  const { result } = await harness.run(once('continued-fan', [fan(writes('continued'))]), { continueEvery: 9 });
  expect(result).toMatchObject({ outcome: 'completed', outputs: { row0: { n: 0 }, row19: { n: 19 } } });
  expect(await numbersIn('continued')).toEqual(all);
});
