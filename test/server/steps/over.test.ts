/** Parallel steps over a list on real services: how many items are under way at once, over a dead worker, and of many. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { ParallelStep, Step } from '../../../language/model.ts';
import type { EditReply, EditRequest } from '../../../interpreter/edits.ts';
import { EDIT } from '../../../workflows/messages/messages.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { refusal } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

const each = (steps: Step[], rest: Partial<ParallelStep> = {}): Step => ({
  type: 'parallel',
  over: '$items',
  as: 'item',
  steps,
  outputTo: 'results',
  ...rest,
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const linesOf = (file: string): string[] => {
  const path = join(harness.project, file);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};
const resultsOf = ({ outputs }: { outputs: { [name: string]: Json } }): Json[] => outputs['results'] as Json[];

test('as many items as it says are under way, and the results are in the order of the list', async () => {
  const work = shell('echo + >> under-way; sleep 0.$item; echo - >> under-way; echo item $item', { outputTo: 'said' });
  const { result } = await harness.run(once('over-at-once', [each([work], { maxConcurrency: 3 })]), {
    inputs: { items: [9, 1, 8, 2, 7, 3, 6] },
  });
  expect(result.outcome).toBe('completed');
  let [now, most] = [0, 0];
  for (const sign of linesOf('under-way')) {
    now += sign === '+' ? 1 : -1;
    most = Math.max(most, now);
  }
  expect({ now, most }).toEqual({ now: 0, most: 3 });
  expect(resultsOf(result as never).map((one) => (one as { said: { stdout: string } }).said.stdout)).toEqual(
    [9, 1, 8, 2, 7, 3, 6].map((n) => `item ${n}\n`),
  );
});

test('the first failure cancels what is under way and begins no other; collected, it is the result of its item', async () => {
  const work = shell('echo $item >> $log; [ $item = 2 ] && exit 4; [ $item = 1 ] && sleep $long; echo $item', {
    failOn: 'nonzero',
    outputTo: 'said',
  });
  const inputs = { items: [1, 2, 3, 4], log: 'failed', long: 60 };
  const failed = await harness.run(once('over-fails', [each([work], { maxConcurrency: 2 })]), { inputs });
  expect(failed.result).toMatchObject({ outcome: 'failed', failure: { code: 'SHELL_EXIT_NONZERO' } });
  expect(linesOf('failed').toSorted()).toEqual(['1', '2']);
  const collected = await harness.run(once('over-collects', [each([work], { itemErrors: 'collect' })]), {
    inputs: { ...inputs, log: 'collected', long: 0 },
  });
  expect(collected.result).toMatchObject({ outcome: 'completed' });
  expect(resultsOf(collected.result as never)).toMatchObject([
    { said: { stdout: '1\n' } },
    { success: false, code: 'SHELL_EXIT_NONZERO' },
    { said: { stdout: '3\n' } },
    { said: { stdout: '4\n' } },
  ]);
});

test('a worker that is killed in the middle: the items that had ended are not done again', async () => {
  const wait = 'while [ ! -e go ]; do sleep 0.1; done';
  const work = shell(`[ $item -gt 3 ] && ${wait}; echo $item >> done; echo $item`, { outputTo: 'said' });
  const handle = await harness.start(once('over-killed', [each([work], { maxConcurrency: 2 })]), {
    inputs: { items: upTo(8) },
  });
  await until(async () =>
    (await harness.events(handle)).some(({ key, type }) => key === 'steps.0.steps.0@1.3' && type === 'step-finished'),
  );
  await worker.kill9();
  worker = await harness.startWorker();
  writeFileSync(join(harness.project, 'go'), '');
  const result = await harness.result(handle);
  expect(result.outcome).toBe('completed');
  expect(
    linesOf('done')
      .filter((line) => Number(line) <= 3)
      .toSorted(),
  ).toEqual(['1', '2', '3']);
  expect(resultsOf(result as never)).toHaveLength(8);
});

test('steps of items under way are not edited, and the run goes on after an edit of what comes behind', async () => {
  const wait = shell('while [ ! -e edited ]; do sleep 0.1; done; echo $item', { outputTo: 'said' });
  const handle = await harness.start(once('over-edited', [each([wait]), shell('true')]), { inputs: { items: [1, 2] } });
  await harness.untilEvent(handle, ({ key, type }) => key === 'steps.0.steps.0@1.2' && type === 'step-started');
  const edit = async (path: string, revision: number): Promise<EditReply> =>
    harness.workflow(handle).executeUpdate<EditReply, [EditRequest]>(EDIT, {
      args: [{ op: 'update', path, revision, by: 'ada', step: { type: 'emit', event: 'instead' } }],
    });
  expect(await refusal(edit('steps.0.steps.0', 0))).toMatch(/^STEP_UNDER_WAY/);
  expect(await edit('steps.1', 0)).toMatchObject({ revision: 1, from: 'now' });
  writeFileSync(join(harness.project, 'edited'), '');
  const result = await harness.result(handle);
  expect(resultsOf(result as never)).toMatchObject([{ said: { stdout: '1\n' } }, { said: { stdout: '2\n' } }]);
  expect(
    (await harness.events(handle)).some(({ key, type }) => key === 'steps.1~1@1' && type === 'step-finished'),
  ).toBe(true);
});

test('of a long list of quick items histories are small, and every item is done once', async () => {
  const count = 1_500;
  const { handle, result } = await harness.run(
    once('over-many', [each([create('many', { n: '$item' }, 'row')], { maxConcurrency: 20 })]),
    { inputs: { items: upTo(count) } },
  );
  expect(result.outcome).toBe('completed');
  expect((await harness.rows('many')).map(({ n }) => Number(n)).toSorted((a, b) => a - b)).toEqual(upTo(count));
  const { events = [] } = await harness.history(handle);
  expect(events?.length).toBeLessThan(count / 2);
});
