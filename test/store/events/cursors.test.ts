/** Places in the order of events: each event once, in order, whoever is fed by whom, and however often that fails. */
import { describe, expect, test } from 'vitest';
import type { FedCursor } from '../../../prisma/store/contract/cursor-contract.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const publish = (...names: string[]): Promise<void> =>
  opened.store.signals.publishAll(names.map((name) => ({ handle: '@emit', key: name, name, data: name })));

const fed = (name: string, event: string | null, rest: Partial<FedCursor> = {}): FedCursor => ({
  name,
  event,
  from: 'now',
  most: 1,
  withData: true,
  ...rest,
});

/** The names of the events, and whether what was done with them is kept. */
async function take(cursor: FedCursor, isKept = true): Promise<string | null> {
  const { store } = opened;
  const behind = await store.cursors.behind([cursor]);
  const session = store.session();
  const batch = await store.cursors.take(session, cursor);
  await (isKept ? session.end() : session.close());
  // Who is not behind is given nothing.
  if (!behind.has(cursor.name)) expect(batch).toBeNull();
  return batch === null ? null : `${batch.events.map(({ name }) => name).join(' ')} ${batch.failures}`;
}

const positionOf = async (name: string): Promise<{ position: number; latest: number }> => {
  const rows = await opened.database.query(
    'select position::int, latest_event_position()::int as latest from event_cursors where name = $1',
    [name],
  );
  return rows[0] as { position: number; latest: number };
};

test('has each event that is for it once, in order, from when it began', async () => {
  const cursor = fed('ordered', 'ordered:*');
  await publish('ordered:before');
  await opened.store.cursors.open(cursor);
  await publish('ordered:1', 'other:1', 'ordered:2', 'ordered:3');
  await opened.store.cursors.open(cursor);
  expect(await take(cursor, false)).toBe('ordered:1 0');
  expect(await take(cursor)).toBe('ordered:1 0');
  expect(await take({ ...cursor, most: 10 })).toBe('ordered:2 ordered:3 0');
  expect(await take(cursor)).toBeNull();
});

test('of every event, without what it carries', async () => {
  const cursor = fed('every', null, { most: 10, withData: false });
  await opened.store.cursors.open(cursor);
  await publish('every:1', 'any:1');
  await opened.store.cursors.behind([cursor]);
  const session = opened.store.session();
  const batch = await opened.store.cursors.take(session, cursor);
  await session.end();
  expect(batch?.events.map(({ name, data }) => [name, data])).toEqual([
    ['every:1', null],
    ['any:1', null],
  ]);
});

test('what is not for it is behind it, however much that is', async () => {
  const cursor = fed('far', 'far:wanted');
  await opened.store.cursors.open(cursor);
  await publish(...Array.from({ length: 2_500 }, (_, nth) => `far:${nth}`));
  const looks: boolean[] = [];
  for (let turn = 0; turn < 4; turn += 1) looks.push((await opened.store.cursors.behind([cursor])).has('far'));
  // As long as there may be more, it is to be looked for again.
  expect(looks).toEqual([true, true, false, false]);
  const { position, latest } = await positionOf('far');
  expect(position).toBe(latest);
  await publish('far:wanted');
  expect(await take(cursor)).toBe('far:wanted 0');
});

test('one that begins a day ago has what was published since, and nothing older', async () => {
  await publish('aged:old', 'aged:new');
  await opened.database.query("update published_events set at = now() - interval '25 hours' where name <> 'aged:new'");
  const cursor = fed('aged', 'aged:*', { from: 'a day ago', most: 10 });
  await opened.store.cursors.open(cursor);
  expect(await take(cursor)).toBe('aged:new 0');
});

test('one worker at a time feeds it; whoever dies with events in its hands leaves them to the next', async () => {
  const cursor = fed('held', 'held:1');
  await opened.store.cursors.open(cursor);
  await publish('held:1');
  await opened.store.cursors.behind([cursor]);
  const first = opened.store.session();
  expect(await opened.store.cursors.take(first, cursor)).not.toBeNull();
  expect(await opened.store.cursors.behind([cursor])).toEqual(new Set());
  expect(await take(cursor)).toBeNull();
  await first.close();
  expect(await take(cursor)).toBe('held:1 0');
});

test('what is published in place of an event that was taken back is behind nobody who has had that', async () => {
  const { store, database } = opened;
  const cursor = fed('taken', 'taken:*');
  await store.cursors.open(cursor);
  await publish('taken:lost');
  expect(await take(cursor)).toBe('taken:lost 0');
  await database.query("delete from published_events where name = 'taken:lost'");
  await publish('taken:instead');
  expect(await take(cursor)).toBe('taken:instead 0');
});

describe('that fails', () => {
  test('rests, longer each time, and stays at its event', async () => {
    const { cursors } = opened.store;
    const cursor = fed('failing', 'failing:1');
    await cursors.open(cursor);
    await publish('failing:1');
    const { position } = await positionOf('failing');
    const rests: number[] = [];
    for (const failures of [1, 2, 3, 4]) {
      expect(await cursors.hold('failing', position, 'no\0 luck')).toBe(failures);
      const held = (await cursors.held()).find(({ name }) => name === 'failing');
      expect(held).toMatchObject({ position, attempts: failures, failure: 'no\u2400 luck' });
      rests.push(Math.round(((held?.notBefore ?? 0) - Date.now()) / 1000));
    }
    expect(rests).toEqual([1, 2, 4, 8]);
    expect(await take(cursor)).toBeNull();
    await opened.database.query("update event_cursors set not_before = now() where name = 'failing'");
    expect(await take(cursor)).toBe('failing:1 4');
    expect((await cursors.held()).filter(({ name }) => name === 'failing')).toEqual([]);
  });

  test('at an event that another worker has done with meanwhile stands nowhere', async () => {
    const { cursors } = opened.store;
    const cursor = fed('overtaken', 'overtaken:1');
    await cursors.open(cursor);
    const { position } = await positionOf('overtaken');
    await publish('overtaken:1');
    expect(await take(cursor)).toBe('overtaken:1 0');
    expect(await cursors.hold('overtaken', position, 'late')).toBeNull();
    expect((await cursors.held()).filter(({ name }) => name === 'overtaken')).toEqual([]);
  });
});
