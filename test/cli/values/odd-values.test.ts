/** Values of flags as they are read: times, zones, filters. */
import { expect, test } from 'vitest';
import { lengthOfTime } from '../../../cli/request/usage.ts';
import { RecordFilter } from '../../../language/params/record-filter.ts';
import { durationIn, missingDay, momentIn, zoneIn } from '../../../language/references/times.ts';

test('a length of time is written alike in an option and in a definition', () => {
  const read = lengthOfTime('--catchup', { min: 10_000, max: 86_400_000 });
  expect(['60s', '1m', '60000', 'PT1M', '1 minute'].map(read)).toEqual(Array.from({ length: 5 }, () => 60_000));
  for (const odd of ['', '-1', 'NaN', '5s', '99999999999999999999', '1e400', '2d', 'soon'])
    expect(() => read(odd)).toThrow(
      '; write milliseconds (30000) or a time with its unit (30s, 5m, 1h30m), from 10000 to 86400000 ms.',
    );
  expect(durationIn('1h30m')).toBe(5_400_000);
});

test('a day that no calendar has is no time', () => {
  expect(['2026-02-30', '2026-02-29T00:00Z', '2026-13-01', '2026-04-31 10:00Z'].map(momentIn)).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(missingDay('2026-02-30T10:00Z')).toBe('2026-02-30');
  expect(missingDay('2024-02-29')).toBeNull();
  expect(momentIn('2024-02-29')).toBe(Date.UTC(2024, 1, 29));
  expect(momentIn('2026-01-31T08:00:00')).toBeNull();
});

test('a zone is found whatever its capitals', () => {
  expect(zoneIn('europe/zurich')).toBe('Europe/Zurich');
  expect(zoneIn(' utc ')).toBe('UTC');
  expect(zoneIn('Europe/Zurihc')).toBeUndefined();
  expect(zoneIn('')).toBeUndefined();
});

test('a filter with an operator that there is not names the nearest', () => {
  const issue = RecordFilter.safeParse({ size: { $gtt: 3 } }).error?.issues[0];
  expect(issue).toMatchObject({ path: ['size'], message: expect.stringContaining('(write $gt') as string });
  expect(RecordFilter.safeParse({ size: { $gt: 3 }, name: 'a', of: { a: 1 } }).success).toBe(true);
});
