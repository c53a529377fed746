/**
 * A segment that dies between a read and the write that depends on it takes one branch, never both.
 * The test holds the table, so that the write waits while the worker is killed, and changes what was
 * read before the next worker reads it again.
 */
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { create, once } from '../harness/definitions.ts';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();
const connections: Client[] = [];
afterAll(() => Promise.all(connections.map((sql) => sql.end())));

/** A database whose switch stands on a side, and a connection that holds tables of it. */
async function opened(side: 'left' | 'right'): Promise<{ harness: Harness; sql: Client }> {
  const harness = await openHarness();
  const sql = new Client({ connectionString: harness.databaseUrl });
  connections.push(sql);
  await sql.connect();
  await harness.createRow('switch', 'it', { side });
  return { harness, sql };
}

const definition = once('decide', [
  { type: 'command', command: 'data/read', params: { collection: 'switch', id: 'it' }, outputTo: 'switch' },
  {
    type: 'condition',
    check: "$switch.side === 'left'",
    then: [create('taken', { branch: 'left', read: '$switch.side' })],
    else: [create('taken', { branch: 'right', read: '$switch.side' })],
  },
  // Reads what was written, so that the write happens here and not with the commit.
  { type: 'command', command: 'data/list', params: { collection: 'taken' } },
  create('taken', { branch: 'after', read: '$switch.side' }),
]);

test.concurrent('what was read is read again, and one branch is taken', async () => {
  const { harness, sql } = await opened('left');
  const first = await harness.startWorker();
  await sql.query('begin');
  await sql.query('lock table records in exclusive mode');
  const handle = await harness.start(definition);
  await until(async () => (await waitingWrites(sql)) > 0);
  await first.kill9();
  await sql.query(`update records set data = '{"side":"right"}' where collection = 'switch'`);
  await sql.query('commit');
  expect(await harness.rows('taken')).toEqual([]);
  await harness.startWorker();
  const result = await harness.result(handle);
  expect(result.outcome).toBe('completed');
  expect(await harness.rows('taken')).toEqual([
    { branch: 'right', read: 'right' },
    { branch: 'after', read: 'right' },
  ]);
  const finished = (await harness.events(handle)).filter((event) => event.type === 'step-finished');
  expect(finished.map((event) => event.key)).toEqual([
    'steps.0@1',
    'steps.1@1',
    'steps.1.else.0@1',
    'steps.2@1',
    'steps.3@1',
  ]);
});

test.concurrent('a decision that was committed stands, whatever is read later', async () => {
  const { harness, sql } = await opened('right');
  const worker = await harness.startWorker();
  // The segment commits, then its workflow task cannot end: the worker dies in between.
  await sql.query('begin');
  await sql.query('lock table run_events in exclusive mode');
  const handle = await harness.start(
    once('decide-then-wait', [...definition.steps, { type: 'shell', command: 'true' }]),
  );
  await until(async () => (await waitingWrites(sql)) > 0);
  await sql.query('commit');
  await until(async () => (await harness.rows('taken')).length > 0);
  await worker.kill9();
  await sql.query(`update records set data = '{"side":"left"}' where collection = 'switch'`);
  await harness.startWorker();
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(await harness.rows('taken')).toEqual([
    { branch: 'right', read: 'right' },
    { branch: 'after', read: 'right' },
  ]);
  const keys = (await harness.events(handle))
    .filter((event) => event.type === 'step-finished')
    .map((event) => event.key);
  expect(keys).toEqual(['steps.0@1', 'steps.1@1', 'steps.1.else.0@1', 'steps.2@1', 'steps.3@1', 'steps.4@1']);
});

test.concurrent('a commit that was on its way when its worker died counts as made', async () => {
  const { harness, sql } = await opened('right');
  const worker = await harness.startWorker();
  await sql.query('begin');
  await sql.query('lock table records in exclusive mode');
  const handle = await harness.start(
    once(
      'decide-at-once',
      definition.steps.filter((step) => step.type !== 'command' || step.command !== 'data/list'),
    ),
  );
  await until(async () => (await waitingWrites(sql)) > 0);
  await worker.kill9();
  await sql.query(`update records set data = '{"side":"left"}' where collection = 'switch'`);
  await sql.query('commit');
  await until(async () => (await harness.rows('taken')).length > 0);
  await harness.startWorker();
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(await harness.rows('taken')).toEqual([
    { branch: 'right', read: 'right' },
    { branch: 'after', read: 'right' },
  ]);
});

/** Statements of workers that wait for a lock this test holds. */
async function waitingWrites(sql: Client): Promise<number> {
  // Within a transaction, which connections there are would be looked up once only.
  await sql.query('select pg_stat_clear_snapshot()');
  const { rows } = await sql.query<{ count: string }>(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return Number(rows[0]?.count ?? 0);
}
