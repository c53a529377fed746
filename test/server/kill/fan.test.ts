/**
 * A worker that dies while one segment walks the branches of a parallel step: nothing of it was done, or all of it was.
 * The test holds tables, so that a write, or the commit, waits while the worker is killed.
 */
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { create, list, once, shell } from '../harness/definitions.ts';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const openHarness = useHarnesses();
const connections: Client[] = [];
afterAll(() => Promise.all(connections.map((sql) => sql.end())));

const width = 20;
const all = Array.from({ length: width }, (_, n) => n);

/**
 * A database where the switch stands on the left, a connection that holds a table of it, and a worker that has walked such
 * a fan before: a cold one may take more than the quarter of a second after which a segment commits what it has.
 */
async function holding(
  table: 'records' | 'run_events',
): Promise<{ harness: Harness; sql: Client; worker: WorkerProcess }> {
  const harness = await openHarness();
  const sql = new Client({ connectionString: harness.databaseUrl });
  connections.push(sql);
  await sql.connect();
  await harness.createRow('switch', 'it', { side: 'left' });
  const worker = await harness.startWorker();
  const warm = all.map((n): Step[] => [list('warm', `warm${n}`), create('warm', { n }), list('warm', `warm${n}`)]);
  await harness.run(once('fan-before', [{ type: 'parallel', branches: warm }]));
  await sql.query('begin');
  await sql.query(`lock table ${table} in exclusive mode`);
  return { harness, sql, worker };
}

/** Each branch decides by what it reads; a list after a write makes the write happen there, and not with the commit. */
const branch = (n: number): Step[] => [
  { type: 'command', command: 'data/read', params: { collection: 'switch', id: 'it' }, outputTo: 'switch' },
  {
    type: 'condition',
    check: "$switch.side === 'left'",
    then: [create('taken', { n, side: 'left' })],
    else: [create('taken', { n, side: 'right' })],
  },
  list('taken', `seen${n}`),
  { type: 'emit', event: `taken:${n}`, data: '$switch.side' },
];
const fan = (...more: Step[][]): Step => ({ type: 'parallel', branches: [...all.map((n) => branch(n)), ...more] });

async function waitingWrites(sql: Client): Promise<number> {
  // Within a transaction, which connections there are would be looked up once only.
  await sql.query('select pg_stat_clear_snapshot()');
  const { rows } = await sql.query<{ count: string }>(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(rows[0]?.count ?? 0);
}

async function taken(harness: Harness): Promise<unknown[]> {
  const rows = await harness.rows('taken');
  return rows.toSorted((a, b) => Number(a['n']) - Number(b['n']));
}

/** Every step that ended, as often as it did. */
async function ends(harness: Harness, handle: string): Promise<string[]> {
  const events = await harness.events(handle);
  return events.flatMap((event) => (event.type === 'step-finished' ? [event.key] : [])).toSorted();
}

const endsOf = (side: 'then' | 'else', ...more: string[]): string[] =>
  [
    ...all.flatMap((n) => ['0', '1', `1.${side}.0`, '2', '3'].map((step) => `steps.0.branches.${n}.${step}@1`)),
    'steps.0@1',
    ...more,
  ].toSorted();

test.concurrent('in the middle: all branches are walked again, upon what is read then', async () => {
  const { harness, sql, worker } = await holding('records');
  const handle = await harness.start(once('fan-in-the-middle', [fan()]));
  await until(async () => (await waitingWrites(sql)) > 0);
  await worker.kill9();
  await sql.query(`update records set data = '{"side":"right"}' where collection = 'switch'`);
  await sql.query('commit');
  expect(await harness.rows('taken')).toEqual([]);
  await harness.startWorker();
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(await taken(harness)).toEqual(all.map((n) => ({ n, side: 'right' })));
  expect(await ends(harness, handle)).toEqual(endsOf('else'));
});

test.concurrent('after its commit: nothing is done twice, and a long step in a branch goes on', async () => {
  const { harness, sql, worker } = await holding('run_events');
  const long = [
    create('taken', { n: width, side: 'left' }),
    shell('true'),
    create('taken', { n: width + 1, side: 'left' }),
  ];
  const handle = await harness.start(once('fan-committed', [fan(long)]));
  await until(async () => (await waitingWrites(sql)) > 0);
  await sql.query('commit');
  await until(async () => (await harness.rows('taken')).length > width);
  await worker.kill9();
  await sql.query(`update records set data = '{"side":"right"}' where collection = 'switch'`);
  await harness.startWorker();
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(await taken(harness)).toEqual([...all, width, width + 1].map((n) => ({ n, side: 'left' })));
  const more = ['0', '1', '2'].map((step) => `steps.0.branches.${width}.${step}@1`);
  expect(await ends(harness, handle)).toEqual(endsOf('then', ...more));
});

test.concurrent('between two segments of one fan: the next begins where the first ended', async () => {
  const { harness, sql, worker } = await holding('run_events');
  const many = Array.from({ length: 450 }, (_, n) => n);
  const branches = many.map((n): Step[] => [create('taken', { n }), { type: 'emit', event: `taken:${n}` }]);
  const handle = await harness.start(once('fan-of-many', [{ type: 'parallel', branches }]));
  await until(async () => (await waitingWrites(sql)) > 0);
  await sql.query('commit');
  await until(async () => (await harness.rows('taken')).length > 0);
  await worker.kill9();
  await harness.startWorker();
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(await taken(harness)).toEqual(many.map((n) => ({ n })));
  const done = many.flatMap((n) => ['0', '1'].map((step) => `steps.0.branches.${n}.${step}@1`));
  expect(await ends(harness, handle)).toEqual([...done, 'steps.0@1'].toSorted());
});
