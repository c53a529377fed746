/**
 * A filtered, ordered page of a million records by `data/list`, beside the same page by SQL that somebody wrote for it,
 * with an index that somebody made for it. Both are asked in turns over the same rows.
 */
import { Client } from 'pg';
import type { JsonObject } from '../../language/json.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { Registry } from '../../operations/registry.ts';
import type { RunPort } from '../../operations/command.ts';
import { builtInRegistry } from '../../systems/built-in.ts';
import { bounded, informed, median, shown, type Row } from '../report.ts';
import type { World } from '../world.ts';

const COLLECTION = 'bench tasks';
const OTHER = 'bench tasks without an index';
const HAND = 'bench_tasks_by_hand';
const pageSize = 50;
/** Of the pages before the one that is measured in the middle. */
const deepPages = 200;
const costMax = 5;

const FILTER = { status: 'open', size: { $gte: 100 } };
const ORDER = [{ field: 'size', direction: 'desc' }];

const fill = (collection: string, count: number): string => `insert into records (collection, id, data)
  select '${collection}', 't' || n, jsonb_build_object('status', (array['open', 'done', 'held'])[1 + n % 3],
    'size', (n::bigint * 7919) % 100000, 'title', 'task ' || n, 'body', repeat('x', 200))
  from generate_series(1, ${count}) n`;

/** `$1`, `$2`: size and position of the last record of the page before. */
const byHand = (
  collection: string,
): string => `select collection, id, data, created_at, version, position, (data->>'size')::numeric as size
  from records where collection = '${collection}' and data->>'status' = 'open' and (data->>'size')::numeric >= 100
    and ((data->>'size')::numeric < $1 or ((data->>'size')::numeric = $1 and position > $2)) and (data->>'size')::numeric <= $1
  order by (data->>'size')::numeric desc, position limit ${pageSize}`;

interface HandRow {
  size: string;
  position: string;
}

interface Page {
  records: JsonObject[];
  cursor: string;
}

const noRuns = new Proxy({}, { get: () => () => Promise.reject(new Error('a list starts no run')) }) as RunPort;

class Lists {
  readonly #registry: Registry = builtInRegistry();
  readonly #world: World;
  readonly #hand: Client;

  constructor(world: World, hand: Client) {
    this.#world = world;
    this.#hand = hand;
  }

  async ours(collection: string, cursor: string | null): Promise<Page> {
    const { store } = this.#world;
    const session = store.session();
    const run = { handle: 'bench', project: '/', persona: 'bench', definitionHash: '' };
    const context = quickContext({ run, key: 'bench', store, session, runPort: noRuns, timeoutMs: 60_000 });
    const params = { collection, filter: FILTER, orderBy: ORDER, limit: pageSize, cursor };
    try {
      return (await this.#registry.run('data/list', params, context)) as unknown as Page;
    } finally {
      await session.close();
    }
  }

  async hand(collection: string, after: HandRow): Promise<HandRow[]> {
    const { rows } = await this.#hand.query<HandRow>({
      name: collection,
      text: byHand(collection),
      values: [after.size, after.position],
    });
    return rows;
  }
}

const START: HandRow = { size: '1e9', position: '0' };

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

interface Places {
  cursor: string | null;
  after: HandRow;
}

/** Where both stand after as many pages; they must show the same. */
async function placesAfter(lists: Lists, pages: number): Promise<Places> {
  let places: Places = { cursor: null, after: START };
  for (let shownPages = 0; shownPages < pages; shownPages += 1) {
    const page = await lists.ours(COLLECTION, places.cursor);
    const rows = await lists.hand(COLLECTION, places.after);
    const last = rows.at(-1);
    if (last === undefined || Number(page.records.at(-1)?.['size']) !== Number(last.size))
      throw new Error('the pages differ');
    places = { cursor: page.cursor, after: last };
  }
  return places;
}

async function besides(lists: Lists, name: string, { cursor, after }: Places, times: number): Promise<Row> {
  const ours: number[] = [];
  const hand: number[] = [];
  for (let n = 0; n < times; n += 1) {
    ours.push(await timed(() => lists.ours(COLLECTION, cursor)));
    hand.push(await timed(() => lists.hand(COLLECTION, after)));
  }
  const note = `${shown(median(ours))} ms beside ${shown(median(hand))} ms`;
  return bounded(`${name}, of the SQL's`, { value: median(ours) / median(hand), unit: 'x', atMost: costMax, note });
}

export async function records(world: World, quick: boolean): Promise<Row[]> {
  const all = quick ? 100_000 : 1_000_000;
  const client = new Client({ connectionString: world.stage.databaseUrl });
  await client.connect();
  try {
    for (const collection of [COLLECTION, OTHER]) await client.query(fill(collection, all));
    await client.query(
      `create index ${HAND} on records ((data->>'status'), ((data->>'size')::numeric) desc, position) where collection = '${COLLECTION}'`,
    );
    const fields = [
      { field: 'status', direction: 'asc' as const },
      { field: 'size', direction: 'desc' as const },
    ];
    const making = await timed(() => world.store.records.makeIndexes([{ collection: COLLECTION, fields }]));
    await client.query('vacuum analyze records');
    const lists = new Lists(world, client);
    const times = quick ? 50 : 200;
    const name = `a page of ${all} records`;
    const scans: number[][] = [[], []];
    for (let n = 0; n < 3; n += 1) {
      scans[0]?.push(await timed(() => lists.ours(OTHER, null)));
      scans[1]?.push(await timed(() => lists.hand(OTHER, START)));
    }
    const [ours = Number.NaN, hand = Number.NaN] = scans.map(median);
    return [
      await besides(lists, `${name}: the first`, await placesAfter(lists, 0), times),
      await besides(lists, `${name}: the one after ${deepPages}`, await placesAfter(lists, deepPages), times),
      bounded(`${name}: without an index, of the SQL's`, {
        value: ours / hand,
        unit: 'x',
        atMost: costMax,
        note: `${shown(ours)} ms beside ${shown(hand)} ms`,
      }),
      informed(`${name}: making its index`, `${shown(making)} ms`),
    ];
  } finally {
    await client.query(`drop index if exists ${HAND}`);
    await client.query('delete from records where collection = any($1)', [[COLLECTION, OTHER]]);
    await client.end();
  }
}
