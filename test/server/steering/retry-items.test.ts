/** A retry performs again the items of a list that failed, and no others: their results are those of the run before. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Fork } from '../../../client/history/fork-run.ts';
import type { Json } from '../../../language/json.ts';
import type { ParallelStep, Step } from '../../../language/model.ts';
import type { RunEvent, StepFinished } from '../../../language/events/run-event.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { retryOf } from '../harness/forked.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let bundle: { code: string };
let worker: WorkerProcess;
beforeAll(async () => {
  bundle = { code: await buildBundle() };
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

const file = (name: string): string => join(harness.project, name);
beforeEach(() => ['log', 'mended'].forEach((name) => rmSync(file(name), { force: true })));

/** What the steps have done since it was last asked. */
function done(): string[] {
  const lines = existsSync(file('log')) ? readFileSync(file('log'), 'utf8').trim().split('\n') : [];
  rmSync(file('log'), { force: true });
  return lines.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
const mend = (): void => writeFileSync(file('mended'), '');

const retry = (handle: string, asked: Parameters<typeof retryOf>[3] = {}): Promise<Fork> =>
  retryOf(harness, bundle, handle, asked);

/** Fails for the items `$bad` until the file "mended" is there. */
const work = (what: string, bad: string, item = '$item'): Step =>
  shell(
    `echo ${what}-${item} >> log; for bad in ${bad}; do [ ${item} = $bad ] && [ ! -e mended ] && exit 4; done; echo ${what} ${item}`,
    {
      failOn: 'nonzero',
      outputTo: what,
    },
  );
const each = (steps: Step[], rest: Partial<ParallelStep> = {}): Step => ({
  type: 'parallel',
  over: '$items',
  as: 'item',
  steps,
  itemErrors: 'collect',
  outputTo: 'results',
  ...rest,
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const outOf = (outputs: { [name: string]: Json } | null, name: string): string[] =>
  ((outputs ?? {})['results'] as { [name: string]: { stdout: string } }[]).map(
    (one) => one[name]?.stdout.trim() ?? 'failed',
  );
const listEnd = (events: readonly RunEvent[], key = 'steps.0@1'): StepFinished['items'] =>
  events.flatMap((event) => (event.type === 'step-finished' && event.key === key ? [event.items] : [])).at(-1);

test('of twenty items exactly the three that failed are performed again, and then the steps behind the list', async () => {
  const definition = once('collected', [
    each([work('first', 'none'), work('said', '3 8 17')]),
    shell('echo after >> log'),
  ]);
  const { handle } = await harness.run(definition, { inputs: { items: upTo(20) } });
  expect(done()).toHaveLength(41);
  expect(listEnd(await harness.events(handle))).toEqual({ count: 20, failed: 3, failedAt: [3, 8, 17] });
  mend();
  const again = await retry(handle);
  expect(again).toMatchObject({
    at: 'steps.0@1',
    items: [{ at: 'steps.0@1', items: [3, 8, 17], performed: 3, kept: 17 }],
  });
  const result = await harness.result(again.handle);
  expect(result.outcome).toBe('completed');
  // The step before the one that failed is not done again.
  expect(done()).toEqual(['after', 'said-3', 'said-8', 'said-17']);
  expect(outOf(result.outputs, 'said')).toEqual(upTo(20).map((item) => `said ${item}`));
  const events = await harness.events(again.handle);
  expect(events[0]).toMatchObject({ origin: { type: 'fork', of: handle, items: [{ performed: 3, kept: 17 }] } });
  expect(listEnd(events)).toEqual({ count: 20, failed: 0, retraced: 17 });
  await expect(retry(again.handle)).rejects.toMatchObject({ code: 'FORK_REFUSED' });
});

test('a worker that is killed in the middle of the retry: each of the three is performed once', async () => {
  const wait = shell('[ -e mended ] && [ $item = 8 ] && while [ ! -e go ]; do sleep 0.1; done; true');
  const definition = once('killed', [each([work('said', '3 8 17'), wait])]);
  const { handle } = await harness.run(definition, { inputs: { items: upTo(20) } });
  done();
  mend();
  const again = await retry(handle);
  await until(async () =>
    (await harness.events(again.handle)).some(
      ({ key, type }) => key === 'steps.0.steps.1@1.9' && type === 'step-started',
    ),
  );
  await worker.kill9();
  worker = await harness.startWorker();
  writeFileSync(file('go'), '');
  const result = await harness.result(again.handle);
  expect(result.outcome).toBe('completed');
  expect(done()).toEqual(['said-3', 'said-8', 'said-17']);
  expect(outOf(result.outputs, 'said')).toEqual(upTo(20).map((item) => `said ${item}`));
});

test('where the first failure ends the list, what ended stays, and what was cancelled or had not begun is performed', async () => {
  const definition = once('ended', [each([work('said', '4')], { itemErrors: 'fail', maxConcurrency: 2 })]);
  const { handle } = await harness.run(definition, { inputs: { items: upTo(10) } });
  const before = new Set(done());
  expect(before.has('said-4')).toBe(true);
  mend();
  const again = await retry(handle);
  const result = await harness.result(again.handle);
  expect(result.outcome).toBe('completed');
  const after = done();
  expect(after).toContain('said-4');
  expect(after).not.toContain('said-1');
  expect(new Set([...before, ...after]).size).toBe(10);
  expect(outOf(result.outputs, 'said')).toEqual(upTo(10).map((item) => `said ${item}`));
});

test('items by their numbers, and a run that ended at a step of type fail', async () => {
  const verdict: Step = {
    type: 'condition',
    check: 'results.some(one => one.success === false)',
    then: [{ type: 'fail', message: 'some failed' }],
    else: [],
  };
  const { handle, result: first } = await harness.run(once('named', [each([work('said', '1 2')]), verdict]), {
    inputs: { items: upTo(5) },
  });
  expect(first.outcome).toBe('failed');
  done();
  mend();
  const some = await retry(handle, { items: [1, 4] });
  expect((await harness.result(some.handle)).outcome).toBe('failed');
  expect(done()).toEqual(['said-1', 'said-4']);
  const rest = await retry(some.handle);
  const result = await harness.result(rest.handle);
  expect(result.outcome).toBe('completed');
  expect(done()).toEqual(['said-2']);
  expect(outOf(result.outputs, 'said')).toEqual(upTo(5).map((item) => `said ${item}`));
  await expect(retry(handle, { items: [5] })).rejects.toThrow('counted from 0 to 4');
});

test('lists in a list: the inner items alone, and results of all others as they were', async () => {
  const inner = each([work('said', '12 31', '$item$part')], { over: '[1, 2, 3]', as: 'part', outputTo: 'parts' });
  const tail = work('tail', 'none');
  const definition = once('nested', [each([work('head', 'none'), inner, tail])]);
  const { handle } = await harness.run(definition, { inputs: { items: [1, 2, 3, 4] } });
  expect(done()).toHaveLength(4 * 5);
  mend();
  const again = await retry(handle);
  expect(again.items).toMatchObject([
    { at: 'steps.0@1', items: [0, 2], kept: 2 },
    { at: 'steps.0.steps.1@1.1', items: [1], kept: 2 },
    { at: 'steps.0.steps.1@1.3', items: [0], kept: 2 },
  ]);
  const result = await harness.result(again.handle);
  expect(done()).toEqual(['said-12', 'said-31', 'tail-1', 'tail-3']);
  const parts = (result.outputs['results'] as { parts: { said: { stdout: string } }[] }[]).map((one) =>
    one.parts.map((part) => part.said.stdout.trim()),
  );
  expect(parts).toEqual([1, 2, 3, 4].map((item) => [1, 2, 3].map((part) => `said ${item}${part}`)));
  const one = await retry(handle, { at: 'steps.0.steps.1@1.3' });
  await harness.result(one.handle);
  expect(done()).toEqual(['said-31', 'tail-3']);
});

test('lists in a loop and beside other branches: of several the one that is named', async () => {
  const { handle } = await harness.run(counted('loop', 2, [each([work('said', '1')])]), { inputs: { items: upTo(3) } });
  done();
  mend();
  await expect(retry(handle)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('steps.0@2 (1 of 3') as string,
  });
  const last = await retry(handle, { at: 'steps.0@2' });
  expect((await harness.result(last.handle)).outcome).toBe('completed');
  expect(done()).toEqual(['said-1']);
  rmSync(file('mended'));
  const branches: Step = {
    type: 'parallel',
    branches: [[each([work('said', '1')])], [shell('echo beside >> log', { outputTo: 'beside' })]],
  };
  const beside = await harness.run(once('beside', [branches, shell('echo behind >> log')]), {
    inputs: { items: upTo(3) },
  });
  done();
  mend();
  const again = await retry(beside.handle);
  const result = await harness.result(again.handle);
  expect(done()).toEqual(['behind', 'said-1']);
  expect(result.outputs).toMatchObject({ beside: { stdout: '' } });
  expect(outOf(result.outputs, 'said')).toEqual(upTo(3).map((item) => `said ${item}`));
});

test('quick items, in a run that continued as new many times', async () => {
  const quick: Step = {
    type: 'condition',
    check: 'item % 50 === 7 && mended !== true',
    then: [{ type: 'fail', message: 'not yet' }],
    else: [create('quick', { n: '$item' }, 'row')],
  };
  const definition = once('quick', [each([quick]), create('quick-ends', { end: true })]);
  const { handle } = await harness.run(definition, { inputs: { items: upTo(200), mended: false }, continueEvery: 30 });
  expect(listEnd(await harness.events(handle))).toMatchObject({ count: 200, failed: 4 });
  const again = await retry(handle, { set: { mended: true } });
  expect((await harness.result(again.handle)).outcome).toBe('completed');
  expect(again.items).toMatchObject([{ items: [7, 57, 107, 157], kept: 196 }]);
  const rows = (await harness.rows('quick')).map(({ n }) => Number(n)).toSorted((a, b) => a - b);
  expect(rows).toEqual(upTo(200));
  expect(await harness.rows('quick-ends')).toHaveLength(2);
});
