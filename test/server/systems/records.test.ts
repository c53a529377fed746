/** The examples of docs/records.md on real services, in a project that declares an index. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { Harness } from '../harness/harness.ts';

const page = readFileSync(new URL('../../../docs/records.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm')), ([, text = '']) => text);
const definitions = blocks('json')
  .map((text) => JSON.parse(text) as JsonObject)
  .filter(({ loop }) => loop !== undefined);
const [config = ''] = blocks('ts');

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(join(harness.project, 'sentinel.config.ts'), config);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
});

async function fill(collection: string, records: readonly (JsonObject & { id: string })[]): Promise<void> {
  const session = harness.store.session();
  for (const { id, ...data } of records) await harness.store.records.create(session, collection, id, data);
  await session.commit({ handle: collection, key: 'filled', result: null, events: [] });
}

/** The client reads it. */
const named = (name: string): Definition => {
  const found = definitions.find((one) => one['name'] === name);
  if (found === undefined) throw new Error(`docs/records.md has no definition "${name}"`);
  return found as unknown as Definition;
};

async function run(name: string, handle: string) {
  await client.start(named(name), { handle, project: harness.project, persona: 'ada' });
  return client.result(handle);
}

test('the worker of the project makes the declared index, and doctor finds it', async () => {
  const fields = [
    { field: 'status', direction: 'asc' as const },
    { field: 'size', direction: 'desc' as const },
  ];
  const state = async () => (await harness.store.records.indexStates([{ collection: 'orders', fields }]))[0]?.state;
  await expect.poll(state, { timeout: 20_000 }).toBe('ready');
  const { out } = await harness.command('trust', '.').then(() => harness.command('doctor', '--json'));
  const { entries } = JSON.parse(out) as { entries: JsonObject[] };
  expect(entries.filter(({ name }) => name === 'index of orders (status, size desc)')).toMatchObject([{ ok: true }]);
});

test('a loop over pages reads each record once', async () => {
  const ids = Array.from({ length: 1_203 }, (_, n) => ({
    id: `o${n}`,
    status: n % 3 === 0 ? 'held' : 'open',
    size: n,
  }));
  await fill('orders', ids);
  const report = await run('every-order', 'pages');
  expect(report).toMatchObject({ outcome: 'completed', iterations: 2 });
  const session = harness.store.session();
  const events = await session.read<{ data: { orders: string[] } }>(
    "select data from published_events where name = 'orders:read' order by seq",
    [],
  );
  await session.close();
  expect(events.flatMap(({ data }) => data.orders)).toEqual(
    ids.filter(({ status }) => status === 'open').map(({ id }) => id),
  );
});

test('eight runs that count with a version lose nothing', async () => {
  await fill('counters', [{ id: 'visits', total: 0 }]);
  const reports = await Promise.all(Array.from({ length: 8 }, (_, n) => run('count', `count-${n}`)));
  expect(reports.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'completed'));
  const session = harness.store.session();
  const [visits] = await harness.store.records.list(session, { collection: 'counters', filter: { id: 'visits' } });
  await session.close();
  expect(visits).toMatchObject({ data: { total: 8 }, version: 9 });
});
