/** 1,000 items in an inbox and 200 runs that wait for it: whoever looks is not made to wait, and nothing asks again and again. */
import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

const itemCount = 1_000;
const waiting = 200;
const watchedMs = 20_000;

let harness: Harness;
let database: Client;
beforeAll(async () => {
  harness = await Harness.open();
  database = new Client({ connectionString: harness.databaseUrl });
  await database.connect();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

const posting: Definition = {
  name: 'posts',
  loop: { type: 'count', max: itemCount },
  steps: [
    { type: 'command', command: 'inbox/post', params: { personaId: 'ada', message: 'item {{input.iteration}}' } },
  ],
};
const asks = once('asks', [{ type: 'approval', message: 'Go on?' }]);

async function committed(): Promise<number> {
  const { rows } = await database.query<{ n: string }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.n);
}

/** Transactions of the database in some seconds in which nobody does anything. */
async function transactions(): Promise<number> {
  // What began before is over, and the statistics of all connections have been told.
  await sleep(10_000);
  const before = await committed();
  await sleep(watchedMs);
  return (await committed()) - before;
}

/** The fastest of several looks, in milliseconds. */
async function looking(persona: string): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < 5; nth += 1) {
    const startedAt = performance.now();
    const { code } = await harness.command('inbox', '--persona', persona, '--json');
    times.push(performance.now() - startedAt);
    expect(code).toBe(0);
  }
  return Math.min(...times);
}

test(`${itemCount} items and ${waiting} runs that wait`, { timeout: 900_000 }, async () => {
  const idle = await transactions();
  const emptyMs = await looking('nobody');
  await harness.run(posting, { handle: `posts-${harness.taskQueue}`, persona: 'poster' });
  const handles = Array.from({ length: waiting }, (_, n) => `asks-${n}-${harness.taskQueue}`);
  await Promise.all(handles.map((handle) => harness.start(asks, { handle, persona: 'ada' })));
  const open = async (): Promise<number> => (await harness.store.inbox.list({ persona: 'ada' })).length;
  await expect.poll(open, { timeout: 300_000, interval: 1_000 }).toBe(waiting);
  const standing = await transactions();
  const fullMs = await looking('ada');
  console.log(JSON.stringify({ idle, standing, emptyMs: Math.round(emptyMs), fullMs: Math.round(fullMs) }));
  // What a worker does by itself is the same, whoever waits.
  expect(standing).toBeLessThan(idle * 2 + waiting / 10);
  expect(fullMs).toBeLessThan(emptyMs * 4);
  // One of them is answered, and goes on as if it were alone.
  const [first = ''] = handles;
  await harness.command('answer', first, 'approve');
  expect(await harness.result(first)).toMatchObject({ outcome: 'completed' });
  expect(await open()).toBe(waiting - 1);
});
