/** Moments as people write them, and costs as they read them. */
import { expect, test } from 'vitest';
import { momentOf } from '../../../cli/request/moment.ts';
import { costWords } from '../../../language/events/event-words.ts';

const now = Date.parse('2026-11-25T12:00:00Z');
const read = momentOf('--since', () => now);

test.each([
  ['90m', '2026-11-25T10:30:00Z'],
  ['12h', '2026-11-25T00:00:00Z'],
  ['7d', '2026-11-18T12:00:00Z'],
  ['2w', '2026-11-11T12:00:00Z'],
  ['1d2h', '2026-11-24T10:00:00Z'],
  ['PT30M', '2026-11-25T11:30:00Z'],
  ['90 minutes', '2026-11-25T10:30:00Z'],
  ['2026-11-01', '2026-11-01T00:00:00Z'],
  ['2026-11-01T08:00Z', '2026-11-01T08:00:00Z'],
])('%s is a moment', (text, moment) => {
  expect(new Date(read(text)).toISOString()).toBe(new Date(moment).toISOString());
});

test.each(['', 'yesterday', '7', '-1d', '1y', '2026-13-01', '2026', '99999999999d', '2026-02-30', '2026-11-25T25:00Z'])(
  '"%s" is none',
  (text) => {
    expect(() => read(text)).toThrow(/--since is ".*"(?:, and there is no 2026-\d\d-\d\d)?; write a d/);
  },
);

test('what has no known price is said', () => {
  expect(costWords({ tokens: 1200, usd: 0 })).toEqual(['1,200 tokens']);
  expect(costWords({ tokens: 1200, usd: 0, isUnpriced: true })).toEqual(['1,200 tokens', 'price not known']);
  expect(costWords({ tokens: 1, usd: 0.5, isUnpriced: true })).toEqual([
    '1 token',
    '$0.50',
    'and more, whose price is not known',
  ]);
});
