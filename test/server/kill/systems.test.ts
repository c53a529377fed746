/** A worker that dies while a run calls a system of its project: each row, event and what follows it is there once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Definition } from '../../../language/model.ts';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';
import { CONFIG, NOTES } from '../systems/notes-project.ts';

const openHarness = useHarnesses();
let harness: Harness;
let sql: Client;
let client: SentinelClient;
beforeAll(async () => {
  harness = await openHarness();
  writeFileSync(join(harness.project, 'notes.ts'), NOTES);
  writeFileSync(join(harness.project, 'sentinel.config.ts'), CONFIG);
  sql = new Client({ connectionString: harness.databaseUrl });
  await sql.connect();
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await sql.end();
});

const worker = () => harness.startWorker({ SENTINEL_PROJECT: harness.project });
const texts = async (query: string): Promise<string[]> =>
  (await sql.query<{ text: string }>(query)).rows.map(({ text }) => text);

test.each([['step' as const], ['segment' as const]])(
  'quick commands, each a %s: rows, events and followers, once each',
  async (durability) => {
    const passes = 60;
    const handle = `killed-notes-${durability}`;
    const definition: Definition = {
      name: 'killed-notes',
      loop: { type: 'count', max: passes },
      ...(durability === 'step' ? { durability } : {}),
      steps: [
        { type: 'command', command: 'notes/add', params: { text: `${durability} {{input.iteration}}` } },
        { type: 'command', command: 'notes/list', params: { like: 'none' } },
      ],
    };
    let current = await worker();
    await client.start(definition, { handle, project: harness.project });
    const written = (): Promise<string[]> =>
      texts(`select text from notes_note where text like '${durability} %' order by id`);
    for (const enough of [5, 20, 40]) {
      await until(async () => (await written()).length >= enough);
      await current.kill9();
      current = await worker();
    }
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
    const expected = Array.from({ length: passes }, (_, index) => `${durability} ${index + 1}`);
    expect(await written()).toEqual(expected);
    expect(
      await texts(
        `select data->>'text' as text from published_events where handle = '${handle}' and name = 'notes:added' order by seq`,
      ),
    ).toEqual(expected);
    const heard = (): Promise<string[]> =>
      texts(`select text from notes_heard where text like '${durability} %' order by position`);
    await until(async () => (await heard()).length >= passes);
    await sleep(1000);
    expect(await heard()).toEqual(expected);
    await current.kill9();
  },
);

test('a long command: nothing of the attempt that was lost stays, and the next is told how far it was', async () => {
  const current = await worker();
  const step = { type: 'command', command: 'notes/import', outputTo: 'done' } as const;
  const params = { texts: Array.from({ length: 12 }, (_, index) => `slow ${index}`), waitMs: 300 };
  const handle = 'killed-notes-long';
  await client.start(
    { name: 'killed-import', loop: { type: 'once' }, steps: [{ ...step, params }] },
    { handle, project: harness.project },
  );
  await until(async () => (await harness.store.logs.read(handle, 'stdout', 0, 100)).length >= 5);
  await current.kill9();
  expect(await texts("select text from notes_note where text like 'slow %'")).toEqual([]);
  await worker();
  const { outcome, outputs } = await harness.result(handle);
  expect({ outcome, outputs }).toMatchObject({ outcome: 'completed', outputs: { done: { added: 12 } } });
  const done = outputs?.['done'] as { attempt: number; resumed: { written: number } | null };
  expect(done.attempt).toBeGreaterThan(1);
  expect(done.resumed?.written).toBeGreaterThan(0);
  expect(await texts("select text from notes_note where text like 'slow %' order by id")).toEqual(params.texts);
  expect(await texts("select 'x' as text from records where collection = 'imports'")).toHaveLength(1);
});
