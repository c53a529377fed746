/**
 * 500 items in one inbox, 20 runs that take them, two workers, of which one is killed every ten seconds: each item is dealt
 * with once. It lasts half a minute; `SENTINEL_INBOX_MINUTES=5` makes it last so long.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Harness } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const minutes = Number(process.env['SENTINEL_INBOX_MINUTES'] ?? '0.5');
const itemCount = 500;
const takers = 20;
const killEveryMs = 10_000;
/** How long a taker is at an item, so that together they last. */
const atItemMs = Math.max(200, Math.round((minutes * 60_000 * takers) / itemCount) - 500);
const persona = 'helper-ai';

let harness: Harness;
let database: Client;
beforeAll(async () => {
  harness = await Harness.open();
  database = new Client({ connectionString: harness.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

const posting: Definition = {
  name: 'posts',
  loop: { type: 'count', max: itemCount },
  steps: [
    {
      type: 'command',
      command: 'inbox/post',
      params: { personaId: persona, message: 'item {{input.iteration}}' },
    },
  ],
};

const taking: Definition = {
  name: 'takes',
  loop: { type: 'until', check: '!$item', maxIterations: itemCount + 1 },
  steps: [
    { type: 'command', command: 'inbox/take', outputTo: 'item' },
    {
      type: 'condition',
      check: '$item',
      then: [
        { type: 'sleep', durationMs: atItemMs },
        {
          type: 'command',
          command: 'data/create',
          params: { collection: 'dealt with', data: { item: '$item.itemId' } },
        },
        { type: 'command', command: 'inbox/answer', params: { itemId: '$item.itemId', note: 'done' } },
      ],
    },
  ],
};

const number = async (text: string): Promise<number> => Number((await database.query<{ n: string }>(text)).rows[0]?.n);

test(
  `${itemCount} items, ${takers} takers, two workers that die in turns for ${minutes} minutes`,
  { timeout: minutes * 60_000 + 600_000 },
  async () => {
    const env = { SENTINEL_PROJECT: harness.project };
    let workers: WorkerProcess[] = [await harness.startWorker(env), await harness.startWorker(env)];
    expect(await harness.run(posting, { handle: `posts-${harness.taskQueue}`, persona: 'poster' })).toMatchObject({
      result: { outcome: 'completed' },
    });
    const startedAt = Date.now();
    const handles = await Promise.all(
      Array.from({ length: takers }, (_, n) =>
        harness.start(taking, { handle: `takes-${n}-${harness.taskQueue}`, persona }),
      ),
    );
    const results = Promise.all(handles.map((handle) => harness.result(handle)));
    let kills = 0;
    for (let next = startedAt + killEveryMs; ; next += killEveryMs) {
      const isOver = await Promise.race([results.then(() => true), sleep(Math.max(0, next - Date.now()), false)]);
      if (isOver) break;
      const [oldest, ...others] = workers;
      await oldest?.kill9();
      kills += 1;
      workers = [...others, await harness.startWorker(env)];
    }
    expect((await results).every(({ outcome }) => outcome === 'completed')).toBe(true);
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const found = {
      posted: await number('select count(*) as n from inbox_items'),
      done: await number(`select count(*) as n from inbox_items where state = 'done' and closed_by = '${persona}'`),
      dealt: await number(`select count(*) as n from records where collection = 'dealt with'`),
      different: await number(`select count(distinct data->>'item') as n from records where collection = 'dealt with'`),
      answered: await number(`select count(*) as n from published_events where name = 'inbox:${persona}:answered'`),
    };
    console.log(`${seconds} s, ${kills} workers killed: ${JSON.stringify(found)}`);
    expect(found).toEqual({
      posted: itemCount,
      done: itemCount,
      dealt: itemCount,
      different: itemCount,
      answered: itemCount,
    });
    expect(kills).toBeGreaterThanOrEqual(minutes * 3);
  },
);
