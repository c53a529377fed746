/**
 * Branches whose local activities end in one workflow task, in whatever order: what follows from each
 * comes in that order live and in every replay, however long the way from the one to the other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { notReplayed } from '../harness/replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const row = create('beside', { n: 1 });
/** Each asks something of a local activity, and goes another way from its end to the next command. */
const branches: readonly Step[][] = [
  [{ type: 'approval', message: 'Go on?', timeoutMs: 300, onTimeout: 'approve' }, shell('true')],
  [row, shell('true')],
  [{ type: 'condition', check: 'true', then: [row, shell('true')] }],
  [{ type: 'command', command: 'code/read', params: { path: 'none' }, onError: 'skip' }, shell('true')],
  [{ type: 'watch', event: 'beside:never', timeoutMs: 200, onError: 'skip' }, shell('true')],
  [{ type: 'parallel', branches: [[row, shell('true')], [row]] }, shell('true')],
  [{ type: 'sentinel', definition: once('inner', [row]) }, shell('true')],
  [{ type: 'loop', loop: { type: 'count', max: 2 }, steps: [row, shell('true')] }],
  [{ type: 'emit', event: 'beside:once', data: 1 }, shell('true')],
];
const runs = 24;
const side = 6;

/** Other ones, and in another order, for each run. */
const chosen = (run: number): Step[][] =>
  Array.from({ length: side }, (_, n) => branches[(run * 7 + n * (2 + (run % 5))) % branches.length] ?? []);

test('runs of branches that wait for local activities replay', async () => {
  const handles = await Promise.all(
    Array.from({ length: runs }, (_, run) =>
      harness.start(once('beside', [{ type: 'parallel', branches: chosen(run) }, row]), { handle: `beside-${run}` }),
    ),
  );
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
