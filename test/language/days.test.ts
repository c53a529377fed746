/** Days as calendars somewhere have them, also where clocks change at midnight, or a day is left out. */
import { expect, it } from 'vitest';
import { dayAt } from '../../language/references/days.ts';

const HOUR = 3_600_000;

/** When it is, where, and what day that is: its date, its first moment, and its hours. */
const DAYS: [string, string, string, string, number][] = [
  ['2026-11-30T12:00:00Z', 'UTC', '2026-11-30', '2026-11-30T00:00:00Z', 24],
  ['2026-03-29T12:00:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', 23],
  ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', 25],
  ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', 25],
  // Its clocks changed at midnight: the day began at one, and the day before ended twice.
  ['2018-11-04T03:00:00Z', 'America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z', 23],
  ['2018-11-04T02:59:59.999Z', 'America/Sao_Paulo', '2018-11-03', '2018-11-03T03:00:00Z', 24],
  ['2018-02-18T01:30:00Z', 'America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00Z', 25],
  ['2018-02-18T02:30:00Z', 'America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00Z', 25],
  ['2026-11-30T18:14:59.999Z', 'Asia/Kathmandu', '2026-11-30', '2026-11-29T18:15:00Z', 24],
  ['2026-11-30T18:15:00Z', 'Asia/Kathmandu', '2026-12-01', '2026-11-30T18:15:00Z', 24],
  ['2026-04-04T15:00:00Z', 'Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00Z', 24.5],
  // The day after this one was left out.
  ['2011-12-29T12:00:00Z', 'Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00Z', 24],
  ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00Z', 24],
];

it.each(DAYS)('at %s in %s it is %s', (now, zone, date, from, hours) => {
  const day = dayAt(Date.parse(now), zone);
  expect(day).toEqual({ date, from: Date.parse(from), until: Date.parse(from) + hours * HOUR });
});

it.each(['Europe/Berlin', 'America/Sao_Paulo', 'Asia/Kathmandu', 'Pacific/Apia', 'America/St_Johns'])(
  'in %s each day of two decades follows the one before without a gap',
  (zone) => {
    let day = dayAt(Date.parse('2007-01-01T12:00:00Z'), zone);
    for (let n = 0; n < 366; n += 1) {
      const next = dayAt(day.until, zone);
      expect(next.from).toBe(day.until);
      expect(next.date > day.date).toBe(true);
      expect(next.until - next.from).toBeGreaterThanOrEqual(23 * HOUR);
      day = dayAt(next.until + 20 * 24 * HOUR, zone);
    }
  },
);

it('refuses what is no time zone', () => {
  expect(() => dayAt(0, 'Europe/Nowhere')).toThrow(RangeError);
});
