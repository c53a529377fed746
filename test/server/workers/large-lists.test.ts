/** Lists whose results are large together: all is done, and what is kept is read afterwards, over forks, retries and continue-as-new. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { forkOf, retryOf } from '../harness/forked.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
let bundle: { code: string };
beforeAll(async () => {
  bundle = { code: await buildBundle() };
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const file = (name: string, text: string): void => writeFileSync(join(harness.project, name), text);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const list: Step = {
  type: 'parallel',
  over: '$items',
  steps: [{ type: 'command', command: 'code/read', params: { path: '$item' }, outputTo: 'read' }],
  itemErrors: 'collect',
  outputTo: 'r',
};

test('five hundred items of which two read 5 MB are done, and read again in a fork', async () => {
  file('large', 'x'.repeat(5_000_000));
  file('small', 'small');
  const items = upTo(501).map((n) => (n === 17 || n === 400 ? 'large' : 'small'));
  const seen = create('seen', { at: '{{r[17].read.content.length}}', all: '{{r.length}}' });
  const count = shell('wc -c', { stdin: '$r[400].read.content', outputTo: 'counted' });
  const { handle, result } = await harness.run(once('two-large', [list, seen, count]), { inputs: { items } });
  expect(result.failure).toBeUndefined();
  expect(await harness.rows('seen')).toEqual([{ at: 5_000_000, all: 501 }]);
  expect(result.outputs['counted']).toMatchObject({ stdout: '5000000\n' });
  expect((await harness.workflow(handle).describe()).historySize).toBeLessThan(200_000);
  const again = await forkOf(harness, bundle, { handle, at: 'steps.2@1' });
  expect((await harness.result(again.handle)).outputs['counted']).toMatchObject({ stdout: '5000000\n' });
});

test('many middle-sized results go through continue-as-new and a retry of one item', async () => {
  file('middle', 'y'.repeat(50_000));
  const items = upTo(120).map((n) => (n === 90 ? 'late' : 'middle'));
  const seen = create('middle', {
    at: '{{r[17].read.content.length}}',
    late: '$r[90].read.content',
    all: '{{r.length}}',
  });
  const { handle, result } = await harness.run(once('middle', [list, seen]), { inputs: { items }, continueEvery: 50 });
  expect(result.failure).toBeUndefined();
  file('late', 'late');
  const again = await retryOf(harness, bundle, handle);
  expect(again.items).toMatchObject([{ items: [90], kept: 119 }]);
  expect((await harness.result(again.handle)).outcome).toBe('completed');
  expect((await harness.rows('middle')).find(({ late }) => late === 'late')).toEqual({
    at: 50_000,
    late: 'late',
    all: 120,
  });
});
