/** Whatever a worker keeps for a while goes a day after its run: by the sweep that a worker really makes. */
import { Client, Connection } from '@temporalio/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { RawAnswerOf } from '../../../prisma/store/contract/models/raw-answer-contract.ts';
import { keepSwept } from '../../../worker/background/sweeping.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

const answerOf = (handle: string): RawAnswerOf => ({
  handle,
  conversation: 'steps.0@1',
  turn: 1,
  asker: 'steps.0@1/turn',
  request: 'digest',
  attempt: 'steps.0@1/turn 1',
});
const lostOf = (handle: string) => ({ handle, key: 'steps.0@1' });

/** A run whose turn failed, at a step that took a worker with it; ended so many hours ago, or not at all. */
async function run(handle: string, endedHoursAgo?: number): Promise<void> {
  const { store, database } = opened;
  await store.runs.create({
    handle,
    name: 'n',
    definitionHash: 'h',
    project: '/p',
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
  await store.rawAnswers.keep(
    answerOf(handle),
    { status: 200, headers: [['content-type', 'text/event-stream']], body: Buffer.from('kept') },
    {
      model: 'm',
      tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
      usd: null,
    },
  );
  await store.lostSteps.add([lostOf(handle)]);
  if (endedHoursAgo === undefined) return;
  await store.events.append(handle, [started(1), finished(2)]);
  await database.query(`update runs set finished_at = now() - $2 * interval '1 hour' where handle = $1`, [
    handle,
    endedHoursAgo,
  ]);
}

const keptOf = async (handle: string) => ({
  answer: (await opened.store.rawAnswers.find(answerOf(handle))) !== null,
  lost: await opened.store.lostSteps.count(lostOf(handle)),
});

test('answers as they came and lost steps go a day after their run, and stay for one that is under way', async () => {
  await run('old', 25);
  await run('recent', 23);
  await run('going');
  const home = mkdtempSync(join(tmpdir(), 'swept-'));
  // Nobody answers there: what Temporal is asked about waits for another round.
  const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const sweeping = keepSwept({ client, store: opened.store }, home);
  try {
    await vi.waitFor(async () => expect(await keptOf('old')).toEqual({ answer: false, lost: 0 }), 20_000);
  } finally {
    sweeping.end();
    rmSync(home, { recursive: true });
  }
  expect(await keptOf('recent')).toEqual({ answer: true, lost: 1 });
  expect(await keptOf('going')).toEqual({ answer: true, lost: 1 });
});
