/** The rows of steps that write, by themselves and in the commit of somebody else. */
import { expect, test } from 'vitest';
import type { Checkpoint, NewCheckpoint } from '../../../prisma/store/contract/checkpoint-contract.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const state = (tree: string, large = {}) => ({ tree: tree.repeat(40), large });

const begunAt = (handle: string, key: string, over: Partial<NewCheckpoint> = {}): NewCheckpoint => ({
  handle,
  key,
  what: 'shell',
  project: '/a project "with" \u2028 odd names',
  place: '/place',
  isBackground: false,
  before: state('a', { 'large.bin': '3000000 17' }),
  skipped: null,
  takenAt: 1_700_000_000_123,
  begunAt: 1_700_000_000_456,
  paths: ['a "b".txt', 'c\nd'],
  ...over,
});

const times = { closedAt: 1_700_000_001_001, endedAt: 1_700_000_001_002 };

const rowsOf = async (handle: string): Promise<Omit<Checkpoint, 'position'>[]> =>
  (await opened.store.checkpoints.ofRun(handle)).map(({ position, ...row }) => {
    expect(position).toBeGreaterThan(0);
    return row;
  });

test('a row says what was said of the step, and of its end', async () => {
  const rows = opened.store.checkpoints;
  const step = begunAt('plain', 'steps.0@1');
  expect(await rows.begin(step)).toMatchObject({ ...step, after: null, closedAt: null, endedAt: null });
  await rows.end(step, state('b'), times);
  await rows.begin(begunAt('plain', 'steps.1@1', { before: null, skipped: 'no git \0', paths: null }));
  await rows.endUnseen({ handle: 'plain', key: 'steps.1@1' }, 'too late', times);
  await rows.begin(begunAt('plain', 'steps.2@1'));
  await rows.endUnseen({ handle: 'plain', key: 'steps.2@1' }, 'too large', times);
  // What has a state after keeps it.
  await rows.endUnseen(step, 'too late', { closedAt: 1, endedAt: 1 });
  expect(await rowsOf('plain')).toEqual([
    { ...step, after: state('b'), ...times },
    { ...step, key: 'steps.1@1', before: null, skipped: 'no git \u2400', paths: null, after: null, ...times },
    { ...step, key: 'steps.2@1', skipped: 'too large', after: null, ...times },
  ]);
});

test('the end of one step and the begin of the next are in one commit of a session, or in none', async () => {
  const { store } = opened;
  const [first, second, third] = [0, 1, 2].map((at) => begunAt('later', `steps.${at}@1`)) as [
    NewCheckpoint,
    NewCheckpoint,
    NewCheckpoint,
  ];
  const claim = store.session();
  store.checkpoints.later(claim).begin(first);
  await claim.commit({ handle: 'later', key: 'claim.0', result: null, events: [] });
  const next = store.session();
  const rows = store.checkpoints.later(next);
  rows.end(first, state('b', { 'x.bin': '1 1' }), times);
  rows.begin(second);
  rows.begin({ ...third, before: null, skipped: 'why' });
  expect(await rowsOf('later')).toMatchObject([{ key: 'steps.0@1', after: null }]);
  await next.commit({ handle: 'later', key: 'claim.1', result: null, events: [] });
  const lost = store.session();
  store.checkpoints.later(lost).end(second, state('c'), times);
  await lost.close();
  const last = store.session();
  store.checkpoints.later(last).endUnseen(second, 'too large', times);
  store.checkpoints.later(last).endUnseen(third, '', times);
  await last.end();
  expect(await rowsOf('later')).toEqual([
    { ...first, after: state('b', { 'x.bin': '1 1' }), ...times },
    { ...second, skipped: 'too large', after: null, ...times },
    { ...third, before: null, skipped: 'why', after: null, ...times },
  ]);
});

test('a row that is there is no failure of the commit, and keeps its state before', async () => {
  const { store } = opened;
  const step = begunAt('again', 'steps.0@1');
  await store.checkpoints.begin(step);
  await store.checkpoints.end(step, state('b'), times);
  const session = store.session();
  const rows = store.checkpoints.later(session);
  for (const tree of ['c', 'd']) rows.begin({ ...step, before: state(tree) });
  await session.end();
  expect(await rowsOf('again')).toEqual([{ ...step, after: null, closedAt: null, endedAt: null }]);
});
