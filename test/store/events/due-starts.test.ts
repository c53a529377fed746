/** A start is due at its time, which the store keeps in whole milliseconds. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { outside, useTriggers } from '../harness/triggered.ts';

const { opened, add, spreadAll } = useTriggers();

test('what is due now can be claimed now, however its time is rounded', async () => {
  const { triggers } = opened.store;
  await add();
  await triggers.publish(outside());
  await spreadAll();
  const client = new Client({ connectionString: opened.database.url });
  await client.connect();
  const claimed: number[] = [];
  for (let turn = 0; turn < 200; turn += 1) {
    await client.query(`update trigger_starts set not_before = now() where state = 'waiting'`);
    claimed.push((await triggers.claim(1, 60_000)).length);
  }
  await client.end();
  expect(claimed.filter((count) => count !== 1)).toEqual([]);
});
