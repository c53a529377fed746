/** Rate limits and circuit breakers, shared by whoever uses the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LimitStore } from '../../../prisma/store/contract/models/limit-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();
const limits = (): LimitStore => opened.store.limits;
const minute = 60_000;

test('in a minute so many begin, and each of the others gets a place of its own, in order', async () => {
  const asked: Awaited<ReturnType<LimitStore['permit']>>[] = [];
  for (let n = 0; n < 7; n += 1) asked.push(await limits().permit('tool:a', `use ${n}`, { perMinute: 3 }, 1000));
  expect(asked.map(({ ok }) => ok)).toEqual([true, true, true, false, false, false, false]);
  const waits = asked.flatMap((permit) => (permit.ok ? [] : [permit.waitMs]));
  for (const wait of waits.slice(0, 3)) expect(wait).toBeGreaterThan(minute - 5_000);
  for (const wait of waits.slice(0, 3)) expect(wait).toBeLessThanOrEqual(minute);
  // The minute after that.
  expect(waits[3]).toBeGreaterThan(2 * minute - 5_000);
});

test('who asks again before its turn keeps its place', async () => {
  await limits().permit('tool:b', 'first', { perMinute: 1 }, 1000);
  const [second, third] = [
    await limits().permit('tool:b', 'second', { perMinute: 1 }, 1000),
    await limits().permit('tool:b', 'third', { perMinute: 1 }, 1000),
  ];
  const again = await limits().permit('tool:b', 'second', { perMinute: 1 }, 1000);
  if (second.ok || third.ok || again.ok) throw new Error('it is not their turn');
  expect(again.waitMs).toBeLessThanOrEqual(second.waitMs);
  expect(third.waitMs).toBeGreaterThan(second.waitMs + minute - 5_000);
});

test('a use that has begun and is tried again counts again', async () => {
  expect(await limits().permit('tool:c', 'same', { perMinute: 2 }, 1000)).toMatchObject({ ok: true });
  expect(await limits().permit('tool:c', 'same', { perMinute: 2 }, 1000)).toMatchObject({ ok: true });
  expect(await limits().permit('tool:c', 'same', { perMinute: 2 }, 1000)).toMatchObject({
    ok: false,
    because: 'perMinute',
  });
});

test('at once are so many, whichever worker they are of; an end, or the time of one, lets the next begin', async () => {
  const other = openStore({ url: opened.database.url, poolSize: 2 });
  try {
    const rate = { concurrent: 2 };
    const first = await limits().permit('tool:d', 'one', rate, minute);
    const second = await other.limits.permit('tool:d', 'two', rate, 300);
    expect([first.ok, second.ok]).toEqual([true, true]);
    expect(await limits().permit('tool:d', 'three', rate, minute)).toMatchObject({ ok: false, because: 'concurrent' });
    await sleep(400);
    expect(await other.limits.permit('tool:d', 'three', rate, minute)).toMatchObject({ ok: true });
    expect(await limits().permit('tool:d', 'four', rate, minute)).toMatchObject({ ok: false });
    if (first.ok) await limits().release('tool:d', first.id);
    expect(await limits().permit('tool:d', 'four', rate, minute)).toMatchObject({ ok: true });
  } finally {
    await other.close();
  }
});

test('many that ask together get as many as there are, and no two the same place', async () => {
  const asked = await Promise.all(
    Array.from({ length: 20 }, (_, n) => limits().permit('tool:e', `use ${n}`, { perMinute: 5 }, 1000)),
  );
  expect(asked.filter(({ ok }) => ok)).toHaveLength(5);
});

const breaker = { failures: 3, windowMs: 60_000, restMs: 300 };

test('after so many failures in a row nothing is asked, then one finds out', async () => {
  for (let n = 0; n < 2; n += 1) await limits().settle('provider:a', breaker, 'no answer');
  expect(await limits().pass('provider:a', breaker.restMs)).toEqual({ ok: true, probe: false });
  await limits().settle('provider:a', breaker, 'no answer');
  expect(await limits().pass('provider:a', breaker.restMs)).toMatchObject({ ok: false, finding: 'no answer' });
  expect(await limits().circuits()).toMatchObject([{ subject: 'provider:a', state: 'open', failures: 3 }]);
  await sleep(350);
  expect(await limits().circuits()).toMatchObject([{ state: 'half-open' }]);
  expect(await limits().pass('provider:a', breaker.restMs)).toEqual({ ok: true, probe: true });
  // While it finds out, nobody else asks.
  expect(await limits().pass('provider:a', breaker.restMs)).toMatchObject({ ok: false });
  await limits().settle('provider:a', breaker, 'still none');
  expect(await limits().pass('provider:a', breaker.restMs)).toMatchObject({ ok: false, finding: 'still none' });
  await sleep(350);
  expect(await limits().pass('provider:a', breaker.restMs)).toEqual({ ok: true, probe: true });
  await limits().settle('provider:a', breaker, null);
  expect(await limits().pass('provider:a', breaker.restMs)).toEqual({ ok: true, probe: false });
  expect(await limits().circuits()).toEqual([]);
});

test('a success between them, or too long a time, begins the count anew', async () => {
  for (const finding of ['one', 'two', null, 'three', 'four']) await limits().settle('provider:b', breaker, finding);
  expect(await limits().pass('provider:b', 300)).toMatchObject({ ok: true });
  const short = { ...breaker, windowMs: 50 };
  for (const finding of ['one', 'two']) await limits().settle('provider:c', short, finding);
  await sleep(80);
  await limits().settle('provider:c', short, 'three');
  expect(await limits().pass('provider:c', 300)).toMatchObject({ ok: true });
});
