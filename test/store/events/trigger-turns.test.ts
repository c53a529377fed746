/** A definition that loops over the events that start it has one run at a time: which event has its turn, and when. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ClaimedStart } from '../../../prisma/store/contract/trigger-contract.ts';
import { EARLIER_FIRST_MS, TURNS_SEED } from '../../../prisma/store/events/trigger-turns.ts';
import { finished, started } from '../harness/opened.ts';
import { TRIGGERS } from '../../../worker/triggers/dispatcher.ts';
import { outside, rowOf, useTriggers } from '../harness/triggered.ts';

const { opened, add, spreadAll, transaction } = useTriggers();

/** The first start that is due, claimed. */
async function claimNext(): Promise<ClaimedStart> {
  const [start] = await opened.store.triggers.claim(10, 60_000);
  if (start === undefined) throw new Error('one is due');
  return start;
}

/** Starts of a new trigger's first two events, claimed. */
async function claimTwo(): Promise<{ id: string; first: ClaimedStart; second: ClaimedStart }> {
  const { triggers } = opened.store;
  const { id } = await add();
  for (const event of [outside(), outside()]) await triggers.publish(event);
  await spreadAll();
  const [first, second] = await triggers.claim(10, 60_000);
  if (first === undefined || second === undefined) throw new Error('two are due');
  return { id, first, second };
}

test('the first has its turn, later ones are held, and what it had not consumed has its turn at its end', async () => {
  const { store } = opened;
  const { id } = await add();
  for (const data of [1, 2, 3]) await store.triggers.publish(outside({ data }));
  await spreadAll();
  const [first, second, third] = await store.triggers.claim(10, 60_000);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three are due');
  expect(await store.triggers.takeTurn(third)).toBe('later');
  expect(await store.triggers.takeTurn(first)).toBe('now');
  expect(await store.triggers.takeTurn(first)).toBe('now');
  await store.events.append(first.handle, [started(0)]);
  await store.triggers.settle(first, { state: 'started' });
  expect(await store.triggers.takeTurn(second)).toBe('held');
  await sleep(EARLIER_FIRST_MS + 50);
  const [again] = await store.triggers.claim(10, 60_000);
  expect(again?.handle).toBe(third.handle);
  if (again !== undefined) expect(await store.triggers.takeTurn(again)).toBe('held');
  expect(await store.triggers.claim(10, 60_000)).toEqual([]);

  const session = store.session();
  const [placed] = await session.read<{ position: number }>('select position from published_events where seq = $1', [
    second.event.seq,
  ]);
  await session.close();
  await store.events.append(first.handle, [finished(9, { consumed: { 'git:*': placed?.position ?? 0 } })]);
  await spreadAll();
  expect((await store.triggers.starts(id, 10)).map(({ state, heldBy }) => [state, heldBy])).toEqual([
    ['waiting', null],
    ['taken', first.handle],
    ['started', null],
  ]);
  expect(await store.triggers.claim(10, 60_000)).toMatchObject([{ handle: third.handle }]);
});

test('starts are written in the order of events: while another worker has an earlier one in hand, there is none of a later one', async () => {
  const { store } = opened;
  const { id } = await add();
  await store.triggers.publish(outside({ name: 'git:first' }));
  await store.cursors.behind([TRIGGERS]);
  const other = store.session();
  const batch = await store.cursors.take(other, TRIGGERS);
  expect(batch?.events.map(({ name }) => name)).toEqual(['git:first']);
  await store.triggers.publish(outside({ name: 'git:second' }));
  await spreadAll();
  expect(await store.triggers.starts(id, 10)).toEqual([]);
  // It dies, and another has both.
  await other.close();
  await spreadAll();
  expect((await store.triggers.starts(id, 10)).map(({ event }) => event.name)).toEqual(['git:second', 'git:first']);
  const [first, second] = await store.triggers.claim(10, 60_000);
  if (first === undefined || second === undefined) throw new Error('two are due');
  expect(await store.triggers.takeTurn(second)).toBe('later');
  expect(await store.triggers.takeTurn(first)).toBe('now');
});

test('a run sees an event that was written before the one that started it and committed after it', async () => {
  const { store } = opened;
  await add();
  const slow = await transaction();
  await slow.query(`insert into published_events (handle, key, name, data) values ('slow', 'k', 'git:slow', 'null')`);
  await store.triggers.publish(outside({ name: 'git:quick' }));
  await spreadAll();
  const start = await claimNext();
  const { handle } = start;
  expect(await store.triggers.takeTurn(start)).toBe('now');
  await store.runs.create(rowOf(handle), start.event.seq);
  await store.triggers.settle(start, { state: 'started' });
  await slow.query('commit');
  await spreadAll();
  const late = await claimNext();
  expect(await store.triggers.takeTurn(late)).toBe('held');
  const own = { handle, glob: 'git:*', withCause: true };
  const cause = await store.signals.next({ ...own, consumed: {} });
  expect(cause?.name).toBe('git:quick');
  const seen = await store.signals.next({ ...own, consumed: { 'git:*': cause?.position ?? 0 } });
  expect(seen?.name).toBe('git:slow');
});

test('what was held by a start that is refused has its turn', async () => {
  const { triggers } = opened.store;
  const { first, second } = await claimTwo();
  await triggers.takeTurn(first);
  expect(await triggers.takeTurn(second)).toBe('held');
  await triggers.settle(first, { state: 'refused', reason: 'no' });
  expect(await triggers.claim(10, 60_000)).toMatchObject([{ handle: second.handle }]);
});

test('what is held in the moment in which a start is refused has its turn too', async () => {
  const { triggers } = opened.store;
  const { id, first, second } = await claimTwo();
  await triggers.takeTurn(first);
  // Another worker has seen the first in hand, and has not yet written that it holds the second.
  const other = await transaction();
  await other.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [id, TURNS_SEED]);
  const refused = triggers.settle(first, { state: 'refused', reason: 'no' });
  await sleep(200);
  await other.query(`update trigger_starts set state = 'held', held_by = $1 where handle = $2`, [
    first.handle,
    second.handle,
  ]);
  await other.query('commit');
  await refused;
  expect(await triggers.claim(10, 60_000)).toMatchObject([{ handle: second.handle }]);
});
