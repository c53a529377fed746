/** Leases of steps: never more have a place than there are, each has its turn in order, whatever becomes of the others. */
import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { HeldStep, LeaseName, LeaseStanding } from '../../../prisma/store/contract/lease-contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { randomRuns } from '../../random-runs.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

const aliveMs = 60_000;
const lease = (name: string, project: string | null = '/project'): LeaseName => ({ kind: 'command', project, name });

const held = (name: string, key: string, { handle = 'run', claim = 'first' } = {}): HeldStep => ({
  ...lease(name),
  handle,
  step: { key, claim, aliveMs },
});

interface Wish {
  capacity?: number;
  states?: boolean;
  claim?: string;
  handle?: string;
}

const ask = (name: string, key: string, { capacity = 1, states = true, ...rest }: Wish = {}): Promise<LeaseStanding> =>
  opened.store.leases.ask({ ...held(name, key, rest), capacity, states, whenHeld: 'wait' });

const has = async (name: string, key: string, wish: Wish = {}): Promise<boolean> =>
  (await ask(name, key, wish)).before === null;

const release = (name: string, key: string, claim = 'first'): Promise<void> =>
  opened.store.leases.release(held(name, key, { claim }));

/** Nothing was heard of it for too long. */
const die = (name: string, key: string): Promise<unknown> =>
  opened.database.query(
    `update lease_places p set until = now() - interval '1 ms', busy_until = null from leases l where l.id = p.lease_id and l.name = $1 and p.key = $2`,
    [name, key],
  );

const standing = async (name: string): Promise<string[]> =>
  (await opened.store.leases.places(10_000))
    .filter((place) => place.name === name)
    .map(({ step, isTaken }) => `${step ?? ''} ${isTaken ? 'has' : 'waits'}`);

beforeAll(() => opened.store.events.append('run', [started(1)]));

test('two of five have a place, the others theirs in the order of asking', async () => {
  for (const [key, expected] of [
    ['s1', true],
    ['s2', true],
    ['s3', false],
    ['s4', false],
    ['s5', false],
  ] as const)
    expect(await has('five', key, { capacity: 2 })).toBe(expected);
  expect(await standing('five')).toEqual(['s1 has', 's2 has', 's3 waits', 's4 waits', 's5 waits']);
  await release('five', 's1');
  // Who asks first does not pass one that waits longer.
  expect(await has('five', 's5', { capacity: 2 })).toBe(false);
  expect(await has('five', 's4', { capacity: 2 })).toBe(false);
  expect(await has('five', 's3', { capacity: 2 })).toBe(true);
  await release('five', 's2');
  await release('five', 's3');
  // Two are free, and the second in order asks first.
  expect(await has('five', 's5', { capacity: 2 })).toBe(true);
  expect(await has('five', 's6', { capacity: 2 })).toBe(false);
  expect(await has('five', 's4', { capacity: 2 })).toBe(true);
});

test('one that waits and leaves is in nobody’s way', async () => {
  for (const key of ['l1', 'l2', 'l3']) await ask('leaves', key);
  await release('leaves', 'l2');
  await release('leaves', 'l1');
  expect(await has('leaves', 'l3')).toBe(true);
});

test('the latest statement of a capacity rules, and a smaller one takes nobody’s place', async () => {
  for (const key of ['c1', 'c2', 'c3']) expect(await has('capacity', key, { capacity: 3 })).toBe(true);
  expect(await has('capacity', 'c4', { capacity: 1 })).toBe(false);
  for (const key of ['c1', 'c2', 'c3']) expect(await has('capacity', key, { capacity: 3, states: false })).toBe(true);
  for (const key of ['c1', 'c2']) await release('capacity', key);
  expect(await has('capacity', 'c4', { capacity: 1, states: false })).toBe(false);
  expect(await has('capacity', 'c5', { capacity: 3 })).toBe(true);
  expect(await has('capacity', 'c4', { capacity: 1, states: false })).toBe(true);
});

test('those who wait hear that a place was left, and that there are more', async () => {
  await ask('heard', 'h1');
  await ask('heard', 'h2');
  const heard = opened.store.leases.listen(lease('heard'), 60_000);
  const elsewhere = opened.store.leases.listen(lease('heard', null), 1_500);
  try {
    // The connection that listens is open from here on.
    await heard.next(undefined);
    await elsewhere.next(undefined);
    await release('heard', 'h1');
    expect(await heard.next(undefined)).toBe('announced');
    await ask('heard', 'h3', { capacity: 2 });
    expect(await heard.next(undefined)).toBe('announced');
    expect(await elsewhere.next(undefined)).toBe('polled');
  } finally {
    heard.close();
    elsewhere.close();
  }
});

test('the next attempt has the same place, once the one before can be at it no longer', async () => {
  await ask('again', 'a1');
  await ask('again', 'a2');
  expect(await ask('again', 'a1', { claim: 'second' })).toEqual({ before: [], holder: 'run' });
  expect(await ask('again', 'a1', { claim: 'third' })).toEqual({ before: [], holder: 'run' });
  // The first cannot say that it goes on, and leaves no place that is not its own any more: it says that it has ended.
  expect(await opened.store.leases.renew(held('again', 'a1'))).toBe(false);
  await release('again', 'a1', 'second');
  expect(await ask('again', 'a1', { claim: 'third' })).toEqual({ before: [], holder: 'run' });
  await release('again', 'a1');
  expect(await standing('again')).toEqual(['a1 has', 'a2 waits']);
  expect(await has('again', 'a2')).toBe(false);
  expect(await has('again', 'a1', { claim: 'third' })).toBe(true);
  expect(await standing('again')).toEqual(['a1 has', 'a2 waits']);
  expect(await opened.store.leases.renew(held('again', 'a1', { claim: 'third' }))).toBe(true);
  // Nor is the place lost where nothing is heard of the first: it had said that it goes on for so long.
  expect(await ask('again', 'a1', { claim: 'fourth' })).toEqual({ before: [], holder: 'run' });
  await opened.database.query("update lease_places set busy_until = now() - interval '1 ms' where key = 'a1'");
  expect(await has('again', 'a1', { claim: 'fourth' })).toBe(true);
  await release('again', 'a1', 'fourth');
  expect(await has('again', 'a2')).toBe(true);
});

test('one that nothing is heard of has no place, and comes back to its own in the order', async () => {
  for (const key of ['d1', 'd2', 'd3']) await ask('dead', key);
  await die('dead', 'd1');
  expect(await opened.store.leases.renew(held('dead', 'd1'))).toBe(false);
  await die('dead', 'd2');
  expect(await has('dead', 'd3')).toBe(true);
  expect(await has('dead', 'd4')).toBe(false);
  expect(await has('dead', 'd2', { claim: 'second' })).toBe(false);
  expect(await has('dead', 'd1', { claim: 'second' })).toBe(false);
  expect(await standing('dead')).toEqual(['d3 has', 'd1 waits', 'd2 waits', 'd4 waits']);
  await release('dead', 'd3');
  expect(await has('dead', 'd4')).toBe(false);
  expect(await has('dead', 'd1', { claim: 'second' })).toBe(true);
});

const wish = (key: string) => ({ ...held('ends', key, { handle: 'ends' }), capacity: 1, whenHeld: 'wait' as const });

test('the end of a run takes those who wait away, and a place as soon as nothing is heard of it', async () => {
  await opened.store.events.append('ends', [started(1)]);
  const { store } = opened;
  await store.leases.ask(wish('e1'));
  await store.leases.ask(wish('e2'));
  expect(await has('ends', 'e3')).toBe(false);
  await store.events.append('ends', [finished(9)]);
  expect(await standing('ends')).toEqual(['e1 has', 'e3 waits']);
  await expect(store.leases.ask(wish('e1'))).rejects.toThrow('the store knows of no run "ends" that goes on');
  expect(await store.leases.renew(wish('e1'))).toBe(false);
  await store.leases.sweep();
  expect(await standing('ends')).toEqual(['e1 has', 'e3 waits']);
  await die('ends', 'e1');
  await store.leases.sweep();
  expect(await has('ends', 'e3')).toBe(true);
});

test('a group, a lease of the project, one of another and one of the installation are four by one name', async () => {
  const { leases } = opened.store;
  const first = { capacity: 1, whenHeld: 'wait' as const, handle: 'run' };
  expect((await leases.ask({ ...first, kind: 'group', project: '/project', name: 'four' })).before).toBeNull();
  expect(await has('four', 's1')).toBe(true);
  for (const project of ['/other', null])
    expect(
      (await leases.ask({ ...first, ...lease('four', project), step: held('four', 's2').step })).before,
    ).toBeNull();
  expect(await has('four', 's3')).toBe(false);
});

test('of what has ended nothing is left', async () => {
  await opened.store.events.append('swept', [started(1)]);
  await ask('swept', 's1', { handle: 'swept' });
  await release('swept', 's1');
  const { leases } = opened.store;
  await leases.release(held('swept', 's1', { handle: 'swept' }));
  await leases.sweep();
  const rows = await opened.database.query("select 1 from leases where name = 'swept'");
  expect(rows).toEqual([]);
});

const who = integer({ min: 0, max: 7 });
const deed = record({
  who,
  does: constantFrom('ask', 'ask', 'ask', 'leave', 'leave', 'die', 'state'),
  capacity: integer({ min: 1, max: 3 }),
});

interface Known {
  claim: string;
  isTaken: boolean;
  isDead: boolean;
}

/** What a lease should be, beside what it is. */
class Expected {
  readonly name: string;
  /** In the order of asking. */
  readonly places = new Map<number, Known>();
  #claims = 0;
  #capacity = 2;

  constructor(name: string) {
    this.name = name;
  }

  async ask(one: number, capacity = this.#capacity): Promise<void> {
    const states = capacity !== this.#capacity;
    this.#capacity = capacity;
    const place = this.places.get(one) ?? { claim: this.#claim(), isTaken: false, isDead: false };
    this.places.set(one, place);
    // Its worker is back, and goes on under another attempt.
    if (place.isDead) Object.assign(place, { claim: this.#claim(), isTaken: false, isDead: false });
    const alive = [...this.places].filter(([, { isDead }]) => !isDead);
    const before = alive
      .slice(
        0,
        alive.findIndex(([other]) => other === one),
      )
      .filter(([, { isTaken }]) => !isTaken);
    place.isTaken ||= this.having().length + before.length < capacity;
    expect(await has(this.name, `s${one}`, { capacity, states, claim: place.claim })).toBe(place.isTaken);
  }

  async leave(one: number): Promise<void> {
    await release(this.name, `s${one}`, this.places.get(one)?.claim ?? 'nobody');
    this.places.delete(one);
  }

  async die(one: number): Promise<void> {
    await die(this.name, `s${one}`);
    const place = this.places.get(one);
    if (place !== undefined) place.isDead = true;
  }

  having(): number[] {
    return [...this.places].flatMap(([one, { isTaken, isDead }]) => (isTaken && !isDead ? [one] : []));
  }

  #claim(): string {
    this.#claims += 1;
    return `claim ${this.#claims}`;
  }
}

test('whatever is asked, left and lost: no more places than there are, nobody passes, and all have their turn', async () => {
  let lot = 0;
  await assert(
    asyncProperty(array(deed, { minLength: 5, maxLength: 60 }), async (deeds) => {
      const expected = new Expected(`random ${(lot += 1)}`);
      await has(expected.name, 'states', { capacity: 2 });
      await release(expected.name, 'states');
      for (const { who: one, does, capacity } of deeds) {
        if (does === 'state') await expected.ask(one, capacity);
        else await expected[does](one);
        const having = (await standing(expected.name)).filter((line) => line.endsWith(' has'));
        expect(having.toSorted()).toEqual(
          expected
            .having()
            .map((key) => `s${key} has`)
            .toSorted(),
        );
      }
      for (const [one, { isDead }] of expected.places) if (isDead) await expected.ask(one);
      while (expected.places.size > 0) {
        for (const one of expected.having()) await expected.leave(one);
        const [first] = expected.places.keys();
        if (first !== undefined) await expected.ask(first);
        expect(expected.places.size === 0 || expected.having().length > 0).toBe(true);
      }
    }),
    randomRuns(200, 15),
  );
});

test('of thirty that ask at once over two pools three have a place at any time, and all have their turn in order', async () => {
  const other = openStore({ url: opened.database.url, poolSize: 4 });
  try {
    const keys = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, '0')}`);
    for (const key of keys) await ask('crowd', key, { capacity: 3 });
    const turns: string[] = [];
    const left = new Set(keys);
    while (left.size > 0) {
      const asked = await Promise.all(
        [...left].map(async (key, n) => {
          const { leases } = n % 2 === 0 ? opened.store : other;
          const { before } = await leases.ask({ ...held('crowd', key), capacity: 3, whenHeld: 'wait' });
          return before === null ? [key] : [];
        }),
      );
      const having = asked.flat();
      expect(having).toHaveLength(3);
      turns.push(...having);
      for (const key of having) left.delete(key);
      await Promise.all(having.map((key) => release('crowd', key)));
    }
    expect(turns).toEqual(keys);
  } finally {
    await other.close();
  }
});
