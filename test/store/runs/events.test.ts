import { setTimeout as sleep } from 'node:timers/promises';
import { array, assert, integer, property, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { SeqGaps } from '../../../prisma/store/runs/seq-gaps.ts';
import { medianMs } from '../../elapsed.ts';
import { all, finished, started, useStore, warning } from '../harness/opened.ts';

const opened = useStore();

const seqsOf = (events: readonly RunEvent[]): number[] => events.map((event) => event.seq);
const range = (from: number, to: number): RunEvent[] =>
  Array.from({ length: to - from + 1 }, (_, n) => warning(from + n));

const paused = (seq: number): RunEvent => ({ type: 'paused', seq, at: 0, key: '', reason: 'asked' });
const resumed = (seq: number): RunEvent => ({ type: 'resumed', seq, at: 0, key: '' });
const pass = (seq: number, n: number): RunEvent => ({ type: 'pass-finished', seq, at: 0, key: '', pass: n });

describe('appending events', () => {
  test('again changes nothing, and the last writing of a number wins', async () => {
    const { store } = opened;
    await store.events.append('again', [warning(2, 'a'), started(1), warning(2, 'b')]);
    await store.events.append('again', [started(1), warning(2, 'b'), warning(2, 'c')]);
    expect(await store.events.after('again', -1)).toEqual([started(1), warning(2, 'c')]);
    await store.events.append('again', []);
  });

  test('pages by the last number read', async () => {
    const { store } = opened;
    await store.events.append('pages', range(0, 24));
    const pages: number[][] = [];
    for (let after = -1; ; after = pages.at(-1)?.at(-1) ?? after) {
      const page = await store.events.after('pages', after, 10);
      if (page.length === 0) break;
      pages.push(seqsOf(page));
    }
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(seqsOf(range(0, 24)));
  });

  test.each<[string, RunEvent[][], object]>([
    [
      'started',
      [[started(1)]],
      { status: 'running', name: 'verify-project', iterations: 0, finishedAt: null, inputs: { n: 1 } },
    ],
    ['paused', [[started(1)], [paused(2)]], { status: 'paused' }],
    ['resumed', [[started(1), paused(2)], [resumed(3)]], { status: 'running' }],
    ['an older pause written again', [[started(1)], [paused(2)], [resumed(3)], [paused(2)]], { status: 'running' }],
    ['passes', [[started(1), pass(2, 1)], [pass(3, 2)], [pass(2, 1)]], { iterations: 2 }],
    [
      'all at once',
      [[started(1), paused(2), resumed(3), pass(4, 1), finished(5)]],
      { status: 'completed', outcome: 'completed', iterations: 1, outputs: { answer: 42 } },
    ],
    ['a late pause', [[started(1)], [finished(5)], [paused(4)]], { status: 'completed', iterations: 1 }],
    [
      'a limit',
      [[started(1)], [finished(5, { status: 'failed', outcome: 'stopped', limit: 'maxIterations' })]],
      { status: 'failed', outcome: 'stopped', limit: 'maxIterations' },
    ],
    [
      'a failure',
      [
        [started(1)],
        [
          finished(5, {
            status: 'failed',
            outcome: 'failed',
            failure: { code: 'X', message: 'NUL \0', retryable: false },
          }),
        ],
      ],
      { failure: { code: 'X', message: 'NUL \0', retryable: false } },
    ],
    [
      'started again after the end',
      [[started(1), finished(2)], [started(1)]],
      { status: 'completed', outcome: 'completed' },
    ],
  ])('keeps the run in step: %s', async (name, batches, expected) => {
    const handle = `row ${name}`;
    for (const batch of batches) await opened.store.events.append(handle, batch);
    expect(await opened.store.runs.find(handle)).toMatchObject(expected);
  });

  test('fills the row that the client created before', async () => {
    const { store } = opened;
    const run = {
      handle: 'created',
      name: 'n',
      definitionHash: 'h',
      project: '/p',
      persona: 'ada',
      parent: null,
      inputs: {},
      startedAt: 5,
    };
    expect(await store.runs.create(run)).toBe(true);
    expect(await store.runs.create(run)).toBe(false);
    await store.events.append('created', [started(1), finished(2)]);
    expect(await store.runs.find('created')).toMatchObject({ startedAt: 5, name: 'n', status: 'completed' });
  });
});

const waits = (seq: number, key: string, until: number): RunEvent => ({
  ...warning(seq),
  type: 'warning',
  code: 'MODEL_RATE_LIMITED',
  message: 'busy',
  key,
  until,
  waitsFor: 'openai',
});
const ended = (seq: number, key: string): RunEvent => ({
  type: 'step-finished',
  seq,
  at: 0,
  key,
  step: 'llm',
  label: 'l',
  outcome: 'ok',
  durationMs: 1,
});

test('what steps wait for, while they do', async () => {
  const { store } = opened;
  await store.events.append('waits', [
    started(1),
    waits(2, 'a', 100),
    ended(3, 'b'),
    waits(4, 'b', 200),
    waits(5, 'c', 300),
    warning(6),
    ended(7, 'c'),
  ]);
  const at = async (now: number): Promise<string[]> =>
    (await store.events.waits('waits', now)).map(({ key, until, waitsFor }) => `${key} ${until} ${waitsFor}`);
  expect(await at(50)).toEqual(['a 100 openai', 'b 200 openai']);
  expect(await at(100)).toEqual(['b 200 openai']);
  expect(await at(200)).toEqual([]);
  expect(await store.events.waits('nobody', 0)).toEqual([]);
});

const begun = (seq: number, key: string): RunEvent => ({
  type: 'step-started',
  seq,
  at: 0,
  key,
  step: 'llm',
  label: 'l',
});

test('the steps that are under way', async () => {
  const { store } = opened;
  await store.events.append('under-way', [
    started(1),
    begun(2, 'a'),
    ended(3, 'a'),
    begun(4, 'b'),
    begun(5, 'c'),
    ended(6, 'b'),
    begun(7, 'b'),
  ]);
  expect((await store.events.underWay('under-way')).map(({ key, seq }) => `${key} ${seq}`)).toEqual(['c 5', 'b 7']);
  expect(await store.events.underWay('nobody')).toEqual([]);
});

test('the newest event of some types', async () => {
  const { store } = opened;
  await store.events.append('newest', [started(1), warning(2), warning(3), finished(4)]);
  expect(await store.events.newest('newest', ['warning', 'run-started'])).toMatchObject({ type: 'warning', seq: 3 });
  expect(await store.events.newest('newest', ['paused', 'resumed'])).toBeNull();
  expect(await store.events.newest('nobody', ['warning'])).toBeNull();
});

describe('following a run', () => {
  test('yields what is there, then what comes, and ends with the end', async () => {
    const { store } = opened;
    await store.events.append('live', [started(1), warning(2)]);
    const following = all(store.events.follow('live', {}));
    await sleep(100);
    await store.session().commit({ handle: 'live', key: 'k', result: 1, events: range(3, 5) });
    await sleep(50);
    await store.events.append('live', [warning(6), finished(7)]);
    expect(seqsOf(await following)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('hears of an event within a quarter of a second', async () => {
    const { store } = opened;
    const following = store.events.follow('quick', {})[Symbol.asyncIterator]();
    let seq = 0;
    const hears = async (): Promise<void> => {
      await store.events.append('quick', [warning((seq += 1))]);
      await following.next();
    };
    await hears();
    expect(await medianMs(hears)).toBeLessThan(250);
    await following.return?.();
  });

  test('begins with the start of the run, which becomes visible after what a segment has recorded', async () => {
    const { store } = opened;
    const following = all(store.events.follow('late-start', {}));
    for (const batch of [range(1_025, 1_030), [started(1)], [finished(2_000)]]) {
      await store.events.append('late-start', batch);
      await sleep(60);
    }
    expect(seqsOf(await following)).toEqual([1, ...seqsOf(range(1_025, 1_030)), 2_000]);
    expect(seqsOf(await all(store.events.follow('late-start', { after: 1 })))).toHaveLength(7);
  });

  test('loses none of the numbers that become visible late', async () => {
    const { store } = opened;
    const following = all(store.events.follow('late', {}));
    for (const batch of [
      [started(0)],
      range(5_000, 5_010),
      range(200, 300),
      range(9_000, 9_100),
      range(100, 150),
      range(5_011, 5_011),
      range(1, 5),
    ]) {
      await store.events.append('late', batch);
      await sleep(60);
    }
    await store.events.append('late', [finished(20_000)]);
    const seqs = seqsOf(await following);
    expect(seqs).toHaveLength(1 + 11 + 101 + 101 + 51 + 1 + 5 + 1);
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(seqs.at(-1)).toBe(20_000);
  });
});

describe('where following starts and ends', () => {
  test('starts after a number, ends at once where nothing is left, and reads long runs in pages', async () => {
    const { store } = opened;
    await store.events.append('long', [started(0), ...range(1, 4_999), finished(5_000)]);
    expect(seqsOf(await all(store.events.follow('long', { after: 4_997 })))).toEqual([4_998, 4_999, 5_000]);
    expect(await all(store.events.follow('long', { after: 5_000 }))).toEqual([]);
    expect(seqsOf(await all(store.events.follow('long', {})))).toEqual(Array.from({ length: 5_001 }, (_, n) => n));
  });

  // Reading the whole run once for each hole would take minutes.
  test('reads a long run full of holes in a few seconds', { timeout: 30_000 }, async () => {
    const { store } = opened;
    await store.events.append('holes', [started(0)]);
    for (let block = 0; block < 60; block += 1)
      await store.events.append('holes', range(block * 1_100 + 1, block * 1_100 + 1_000));
    await store.events.append('holes', [finished(100_000)]);
    expect(await all(store.events.follow('holes', {}))).toHaveLength(60_002);
  });

  test('ends when its signal aborts', async () => {
    const abort = new AbortController();
    const following = all(opened.store.events.follow('nobody', { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    expect(await following).toEqual([]);
    expect(await all(opened.store.events.follow('nobody', { signal: AbortSignal.abort() }))).toEqual([]);
  });
});

describe('the gaps of a follower', () => {
  test('ask for every number exactly until it was seen (property)', () => {
    assert(
      property(array(uniqueArray(integer({ min: 0, max: 60 }), { maxLength: 20 }), { maxLength: 8 }), (batches) => {
        const gaps = new SeqGaps(-1);
        const seen = new Set<number>();
        for (const batch of batches) {
          gaps.markSeen(batch.toSorted((a, b) => a - b));
          for (const seq of batch) seen.add(seq);
        }
        const asked = (seq: number): boolean =>
          seq >= gaps.tail || gaps.holes.some(({ from, to }) => from <= seq && seq <= to);
        for (let seq = 0; seq <= 61; seq += 1) expect(asked(seq)).toBe(!seen.has(seq));
      }),
    );
  });
});
