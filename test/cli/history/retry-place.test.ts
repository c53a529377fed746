/** Where a retry begins: at the items of a list, or at a step. */
import { expect, test } from 'vitest';
import { itemNumbers } from '../../../cli/verbs/retry.ts';
import type { ItemsAsked } from '../../../client/history/ended-lists.ts';
import { retryPlace } from '../../../client/history/retry-place.ts';
import { processorMs } from '../../elapsed.ts';
import { againWords, itemsEndWords } from '../../../client/show/trace-words.ts';
import type { RunEvent, StepOutcome } from '../../../language/events/run-event.ts';

/** `KEY TYPE OUTCOME FAILED`: a step that ended; of a list of ten, how many items failed. */
const eventsOf = (...lines: string[]): RunEvent[] =>
  lines.map((line, seq): RunEvent => {
    const [key = '', step = 'shell', outcome = 'ok', failed] = line.split(' ');
    return {
      type: 'step-finished',
      seq,
      at: seq,
      key,
      label: key,
      step: step as 'shell',
      outcome: outcome as StepOutcome,
      durationMs: 1,
      ...(failed === undefined ? {} : { items: { count: 10, failed: Number(failed) } }),
    };
  });

const run = (outcome: 'completed' | 'failed' | null) =>
  ({ handle: 'r', outcome, status: outcome ?? 'running', limit: null, failure: null }) as const;

const collected = ['steps.0.steps.0@1.2 shell failed', 'steps.0@1 parallel ok 1'];
const ended = ['steps.0.steps.0@1.2 shell failed', 'steps.0@1 parallel failed 1'];

test.each<[string, 'completed' | 'failed', string[], string, string[]]>([
  ['a run that completed', 'completed', collected, 'steps.0@1', ['steps.0@1']],
  ['a verdict on the items', 'failed', [...collected, 'steps.1@1 fail failed'], 'steps.0@1', ['steps.0@1']],
  ['another step', 'failed', [...collected, 'steps.1@1 shell failed'], 'steps.1@1', []],
  ['the list itself', 'failed', ended, 'steps.0@1', ['steps.0@1']],
  [
    'a list in a list',
    'completed',
    ['steps.0.steps.1@1.3 parallel ok 2', 'steps.0.steps.1@1.4 parallel ok 0', 'steps.0@1 parallel ok 0'],
    'steps.0@1',
    ['steps.0.steps.1@1.3'],
  ],
  [
    'a list beside branches',
    'completed',
    ['steps.0.branches.0.2@1 parallel ok 1', 'steps.0@1 parallel ok'],
    'steps.0@1',
    ['steps.0.branches.0.2@1'],
  ],
  [
    'the list that ended the run, of two',
    'failed',
    [...collected, 'steps.1.steps.0@1.2 shell failed', 'steps.1@1 parallel failed 3'],
    'steps.1@1',
    ['steps.1@1'],
  ],
  [
    'the last attempt of a list',
    'completed',
    ['steps.0@1 parallel retried 3', 'steps.0#2@1 parallel ok 1'],
    'steps.0#2@1',
    ['steps.0#2@1'],
  ],
])('%s', (_what, outcome, lines, at, picks) => {
  const place = retryPlace(run(outcome), eventsOf(...lines));
  expect(place.at).toBe(at);
  expect((place.lists?.picks ?? []).map((pick) => pick.at)).toEqual(picks);
});

const two = [...collected, 'steps.1@1 parallel ok 2'];

test.each<[string, { at?: string; items?: ItemsAsked }, string[], string, string]>([
  ['nothing that failed', {}, ['steps.0@1 parallel ok 0'], 'FORK_REFUSED', 'no item of its lists did'],
  ['several lists', {}, two, 'USAGE', 'steps.0@1 (1 of 10 items failed), steps.1@1 (2 of 10 items failed)'],
  ['numbers, of several lists', { items: [1] }, two, 'USAGE', 'several lists'],
  ['a list that there is not', { at: 'steps.7@1' }, two, 'FORK_KEY_NOT_REACHED', 'steps.7@1 is no list'],
  ['a list without failed items', { at: 'steps.0@1' }, ['steps.0@1 parallel ok 0'], 'FORK_REFUSED', '--items 3,7-9'],
  ['an item that there is not', { at: 'steps.0@1', items: [10] }, two, 'USAGE', 'from 0 to 9, and no item 10'],
  ['no items', { at: 'steps.0@1', items: [] }, two, 'USAGE', 'names some of them'],
  ['no list', { items: 'failed' }, ['steps.0@1 shell failed'], 'FORK_REFUSED', 'the end of no list'],
])('%s is refused', (_what, asked, lines, code, words) => {
  let thrown: unknown;
  try {
    retryPlace(run('completed'), eventsOf(...lines), asked);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code, message: expect.stringContaining(words) as string });
});

test('lists of a clean-up, and a run that goes on, are left alone', () => {
  expect(() => retryPlace(run('completed'), eventsOf('always.0@1 parallel ok 1'))).toThrow('nothing to retry');
  expect(() => retryPlace(run(null), eventsOf(...collected))).toThrow('nothing to retry');
});

test('items by numbers and ranges', () => {
  expect(itemNumbers('failed')).toBe('failed');
  expect(itemNumbers('7-9, 3,8')).toEqual([3, 7, 8, 9]);
  for (const wrong of ['', 'x', '3,', '9-7', '-1', '1.5', '0-99999999', '3 4'])
    expect(() => itemNumbers(wrong)).toThrow('--items is');
});

test('what became of items, in words', () => {
  expect(itemsEndWords({ count: 20, failed: 4, failedAt: [3, 7, 8, 9] })).toBe('20 items, 4 failed (3, 7-9)');
  expect(itemsEndWords({ count: 1, failed: 0, retraced: 0 })).toBe('1 item, 0 retraced');
  expect(itemsEndWords({ count: 500, failed: 150, failedAt: Array.from({ length: 100 }, (_, at) => at * 2) })).toMatch(
    /^500 items, 150 failed \(0, 2, .*22, …\)$/,
  );
  expect(againWords({ at: 'steps.0@1', items: [3], performed: 1, kept: 19 }, 'old')).toBe(
    'of steps.0@1, 1 item is performed again (3), and 19 results are those of old',
  );
});

test('of a run of very many lists the one with failed items is found by its place', () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, pass) => `steps.0@${pass + 1} parallel ok ${Number(pass === 19_998)}`,
  );
  const tookMs = processorMs(() => {
    expect(retryPlace(run('completed'), eventsOf(...lines)).at).toBe('steps.0@19999');
  });
  expect(tookMs).toBeLessThan(3_000);
});
