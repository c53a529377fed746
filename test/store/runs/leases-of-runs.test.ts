/** Groups of runs: one has its turn, the others theirs in the order in which they were started, whatever ends the runs. */
import { expect, test } from 'vitest';
import type { LeaseStanding } from '../../../prisma/store/contract/lease-contract.ts';
import type { Run } from '../../../prisma/store/contract/contract.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { settleRun } from '../../../runs/settle-run.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

async function begin(...handles: string[]): Promise<void> {
  for (const handle of handles) await opened.store.events.append(handle, [started(1)]);
}

const end = (handle: string): Promise<void> => opened.store.events.append(handle, [finished(9)]);

const group = (name: string) => ({ kind: 'group', project: '/project', name, capacity: 1 }) as const;

interface Wish {
  since?: number;
  project?: string;
  whenHeld?: 'wait' | 'leave' | 'end-earlier';
}

const ask = (handle: string, name: string, rest: Wish = {}, store = opened.store): Promise<LeaseStanding> =>
  store.leases.ask({ ...group(name), handle, since: 1_000, whenHeld: 'wait', ...rest });

test('the first has it, the others wait in the order in which they were started', async () => {
  await begin('a1', 'a2', 'a3', 'a4');
  expect(await ask('a1', 'a')).toEqual({ before: null, holder: 'a1' });
  expect(await ask('a3', 'a', { since: 3_000 })).toEqual({ before: ['a1'], holder: 'a1' });
  expect(await ask('a4', 'a', { since: 4_000 })).toEqual({ before: ['a1', 'a3'], holder: 'a1' });
  // It was started earlier, and asks later.
  expect(await ask('a2', 'a', { since: 2_000 })).toEqual({ before: ['a1'], holder: 'a1' });
  expect(await ask('a4', 'a', { since: 4_000 })).toEqual({ before: ['a1', 'a2', 'a3'], holder: 'a1' });
  await end('a1');
  expect(await ask('a4', 'a')).toEqual({ before: ['a2', 'a3'], holder: null });
  expect(await ask('a3', 'a')).toEqual({ before: ['a2'], holder: null });
  expect(await ask('a2', 'a')).toEqual({ before: null, holder: 'a2' });
  expect(await ask('a3', 'a')).toEqual({ before: ['a2'], holder: 'a2' });
});

test('who has it keeps it, however often it asks, and whoever was started before', async () => {
  await begin('b1', 'b2');
  await ask('b2', 'b', { since: 2_000 });
  expect(await ask('b1', 'b', { since: 1 })).toEqual({ before: ['b2'], holder: 'b2', later: ['b2'] });
  expect(await ask('b2', 'b', { since: 2_000 })).toEqual({ before: null, holder: 'b2' });
});

test('one that ends while it waits is in nobody’s way', async () => {
  await begin('c1', 'c2', 'c3');
  await ask('c1', 'c', { since: 1 });
  await ask('c2', 'c', { since: 2 });
  expect(await ask('c3', 'c', { since: 3 })).toMatchObject({ before: ['c1', 'c2'] });
  await end('c2');
  expect(await ask('c3', 'c', { since: 3 })).toMatchObject({ before: ['c1'] });
  await end('c1');
  expect(await ask('c3', 'c', { since: 3 })).toMatchObject({ before: null });
});

test('one that does not wait leaves nothing behind', async () => {
  await begin('d1', 'd2', 'd3');
  await ask('d1', 'd');
  expect(await ask('d2', 'd', { whenHeld: 'leave' })).toEqual({ before: ['d1'], holder: 'd1' });
  expect(await ask('d3', 'd', { since: 5_000 })).toEqual({ before: ['d1'], holder: 'd1' });
});

test('one that ends the earlier runs also ends one that asks after it, and none that was started after it', async () => {
  await begin('i1', 'i2', 'i3', 'i4');
  const whenHeld = 'end-earlier';
  expect(await ask('i3', 'i', { since: 3_000, whenHeld })).toEqual({ before: null, holder: 'i3' });
  // Started earlier, and asking later: whether it would wait or end the others, it has no turn.
  const ended = { before: ['i3'], holder: 'i3', later: ['i3'], endedBy: 'i3' };
  expect(await ask('i2', 'i', { since: 2_000, whenHeld })).toEqual(ended);
  expect(await ask('i1', 'i', { since: 1_000 })).toEqual({ ...ended, endedBy: 'i2' });
  expect(await ask('i3', 'i', { since: 3_000, whenHeld })).toEqual({ before: null, holder: 'i3' });
  await end('i3');
  expect(await ask('i4', 'i', { since: 4_000, whenHeld })).toEqual({ before: ['i1', 'i2'], holder: null });
  expect(await ask('i1', 'i', { since: 1_000 })).toEqual({ before: [], holder: null, endedBy: 'i4' });
});

test('one that ends the earlier runs waits for a later one that has its turn', async () => {
  await begin('j1', 'j2');
  await ask('j2', 'j', { since: 2_000 });
  const standing = await ask('j1', 'j', { since: 1_000, whenHeld: 'end-earlier' });
  expect(standing).toEqual({ before: ['j2'], holder: 'j2', later: ['j2'] });
});

test('another project has groups of its own', async () => {
  await begin('e1', 'e2');
  await ask('e1', 'e');
  expect(await ask('e2', 'e', { project: '/other' })).toMatchObject({ before: null });
});

test('a run that was lost frees its group when its end is settled', async () => {
  await begin('f1', 'f2');
  await ask('f1', 'f', { since: 1 });
  await ask('f2', 'f', { since: 2 });
  const run = (await opened.store.runs.find('f1')) as Run;
  await settleRun(opened.store, run, { code: 'RUN_LOST', message: 'gone', at: run.startedAt + 5 }, () =>
    Promise.resolve(),
  );
  expect(await ask('f2', 'f', { since: 2 })).toMatchObject({ before: null });
});

test('a run that the store does not know gets no turn', async () => {
  await expect(ask('nobody', 'g')).rejects.toThrow('the store knows of no run "nobody" that goes on');
  await begin('g1');
  expect(await ask('g1', 'g')).toMatchObject({ before: null });
});

test('places are told as long as the runs go on', async () => {
  await begin('h1', 'h2', 'h3');
  await ask('h1', 'h', { since: 1 });
  await ask('h2', 'h', { since: 2 });
  await ask('h3', 'h', { since: 3 });
  const place = { ...group('h'), step: null };
  expect(await opened.store.leases.placesOf(['h1', 'h3', 'nobody'])).toEqual(
    expect.arrayContaining([
      { ...place, holders: ['h1'], handle: 'h1', isTaken: true, ahead: 0, since: expect.any(Number) as number },
      { ...place, holders: ['h1'], handle: 'h3', isTaken: false, ahead: 2, since: 3 },
    ]),
  );
  await end('h1');
  await opened.store.leases.sweep();
  expect(await opened.store.leases.placesOf(['h1', 'h3'])).toEqual([
    { ...place, handle: 'h3', isTaken: false, holders: [], ahead: 1, since: 3 },
  ]);
});

test('of forty that ask at once, over two connections pools, exactly one has it at any time, and each has its turn in order', async () => {
  const handles = Array.from({ length: 40 }, (_, n) => `z${String(n).padStart(2, '0')}`);
  await begin(...handles);
  const other = openStore({ url: opened.database.url, poolSize: 4 });
  try {
    const turns: string[] = [];
    const waiting = new Set(handles);
    // Nobody has it yet, so whoever asks first is the first; the others are in the order of their starts.
    while (waiting.size > 0) {
      const answers = await Promise.all(
        [...waiting].map(async (handle, n) => ({
          handle,
          ...(await ask(handle, 'z', { since: handles.indexOf(handle) }, n % 2 === 0 ? opened.store : other)),
        })),
      );
      const taken = answers.filter(({ before }) => before === null).map(({ handle }) => handle);
      expect(taken).toHaveLength(1);
      const [turn = ''] = taken;
      turns.push(turn);
      waiting.delete(turn);
      await end(turn);
    }
    const [first = '', ...rest] = turns;
    expect(rest).toEqual(handles.filter((handle) => handle !== first));
  } finally {
    await other.close();
  }
});

test('a run that leaves its place is told whose turn it is, and is the last when it asks again', async () => {
  const lease = { kind: 'persona', project: null, name: 'leaving' } as const;
  const place = (handle: string): Promise<LeaseStanding> =>
    opened.store.leases.ask({ ...lease, handle, capacity: 2, whenHeld: 'wait' });
  await begin('p1', 'p2', 'p3', 'p4');
  for (const handle of ['p1', 'p2', 'p3', 'p4']) await place(handle);
  expect(await opened.store.leases.turns(lease, 2)).toEqual([]);
  expect(await opened.store.leases.turns(lease, 3)).toEqual(['p3']);
  expect(await opened.store.leases.leave(lease, 'p1')).toEqual(['p3']);
  // Nobody comes between it and its turn.
  expect(await place('p1')).toMatchObject({ before: ['p2', 'p3', 'p4'] });
  expect(await opened.store.leases.leave(lease, 'p4')).toEqual(['p3']);
  expect(await place('p3')).toMatchObject({ before: null });
  await end('p2');
  expect(await opened.store.leases.leave(lease, 'p2')).toEqual(['p1']);
  expect(await opened.store.leases.leave(lease, 'never-asked')).toEqual(['p1']);
  expect(await opened.store.leases.leave({ ...lease, name: 'nobody' }, 'p1')).toEqual([]);
});
