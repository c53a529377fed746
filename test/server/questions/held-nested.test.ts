/**
 * A run whose time is up while it waits for a nested one: held as a whole, answered, and gone on or
 * ended; and every history replayed from its start.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerRun } from '../../../runs/steer-run.ts';
import type { Choice } from '../../../language/events/question.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { notReplayed } from '../harness/replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const rowsOf = async (run: string): Promise<unknown[]> =>
  (await harness.rows('held-nested')).filter((row) => (row as { run?: unknown }).run === run);

async function startHeld(run: string): Promise<string> {
  const child = once('child', [
    shell(`until [ -e ${run} ]; do sleep 0.1; done`),
    create('held-nested', { run, by: 'child' }),
  ]);
  const letGo = once('let-go', [create('held-nested', { run, by: 'let-go' })]);
  return harness.start(
    once(
      'held-nested',
      [
        {
          type: 'parallel',
          branches: [[{ type: 'sentinel', definition: child }], [{ type: 'sentinel', definition: letGo }]],
        },
        { type: 'sentinel', definition: once('later', [create('held-nested', { run, by: 'later' })]) },
      ],
      { timeoutMs: 2000, safety: { onTimeout: 'pause' } },
    ),
  );
}

/** Both are held, with one question; the nested run's step ends while they are, and it begins no other. */
async function answerHeld(handle: string, run: string, choice: Choice): Promise<void> {
  await until(async () => (await harness.store.inbox.list({ handle })).length > 0, 20_000);
  const child = `${handle}/steps.0.branches.0.0@1`;
  await harness.untilEvent(child, ({ type }) => type === 'paused');
  writeFileSync(join(harness.project, run), '');
  await harness.untilEvent(child, ({ type }) => type === 'step-finished');
  const questions = await harness.store.inbox.list({ handle });
  expect(questions.map((question) => question.id)).toEqual(['limit.timeoutMs']);
  const data = choice === 'extend' ? { data: { timeoutMs: 60_000 } } : {};
  await answerRun(harness.client, handle, { id: 'limit.timeoutMs', choice, by: 'ada', ...data });
}

test.concurrent(
  'extended, both go on where they were',
  async () => {
    const handle = await startHeld('extended');
    await answerHeld(handle, 'extended', 'extend');
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
    expect(await rowsOf('extended')).toHaveLength(3);
    const nested = ['steps.0.branches.0.0@1', 'steps.0.branches.1.0@1', 'steps.1@1'].map((key) => `${handle}/${key}`);
    expect(await notReplayed(harness, [handle, ...nested], 0)).toEqual([]);
  },
  90_000,
);

test.concurrent(
  'stopped, neither begins anything else',
  async () => {
    const handle = await startHeld('stopped');
    await answerHeld(handle, 'stopped', 'stop');
    expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped', limit: 'timeoutMs' });
    expect(await rowsOf('stopped')).toMatchObject([{ by: 'let-go' }]);
    expect(await notReplayed(harness, [handle, `${handle}/steps.0.branches.0.0@1`], 0)).toEqual([]);
  },
  90_000,
);
