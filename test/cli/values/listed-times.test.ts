/** What a verb of a system lists: times as people read them, and any other number as it is. */
import { expect, test } from 'vitest';
import { shown } from '../../../cli/system-verb.ts';

test.each([
  [Date.UTC(2026, 0, 2, 3, 4, 5), '2026-01-02T03:04:05.000Z'],
  [42, '42'],
  [-1, '-1'],
  // Microseconds and nanoseconds.
  [1_767_323_045_000_000, '1767323045000000'],
  [1_767_323_045_000_000_000, '1767323045000000000'],
  [8.64e15 + 2, '8640000000000002'],
  [1e300, '1e+300'],
])('the time %d', (startedAt, words) => {
  expect(shown([{ startedAt }], null)).toEqual([`startedAt: ${words}`]);
  expect(shown([{ timestamp: startedAt, tookMs: 12 }], null)).toEqual([`timestamp: ${words}  tookMs: 12 ms`]);
});
