/** What a change of the clock does to a schedule. */
import { expect, test } from 'vitest';
import { clockChanges } from '../../../runs/calendar/clock-changes.ts';
import { readCron } from '../../../runs/calendar/cron.ts';

const from = Date.UTC(2026, 0, 1);
const skipped = (at: string) => ({ at, what: 'skipped' });
const repeated = (at: string) => ({ at, what: 'repeated' });

test.each([
  ['30 2 * * *', 'Europe/Zurich', [skipped('2026-03-29 02:30'), repeated('2026-10-25 02:30')]],
  ['0 3 * * *', 'Europe/Zurich', []],
  ['0 2 * * *', 'Europe/Zurich', [skipped('2026-03-29 02:00'), repeated('2026-10-25 02:00')]],
  ['59 1 * * *', 'Europe/Zurich', []],
  ['15 30 2 * * *', 'Europe/Zurich', [skipped('2026-03-29 02:30'), repeated('2026-10-25 02:30')]],
  ['30 2 * * 1', 'Europe/Zurich', []],
  ['30 2 29 3 MON', 'Europe/Zurich', [skipped('2026-03-29 02:30')]],
  ['0 2,14 * * *', 'America/New_York', [skipped('2026-03-08 02:00')]],
  ['0 1,13 * * *', 'America/New_York', [repeated('2026-11-01 01:00')]],
  ['@daily', 'Africa/Cairo', [skipped('2026-04-24 00:00')]],
  ['45 1 * * *', 'Australia/Lord_Howe', [repeated('2026-04-05 01:45')]],
  // Due in every hour, nothing is missed.
  ['*/5 * * * *', 'Europe/Zurich', [repeated('2026-10-25 02:00')]],
  ['@hourly', 'Europe/Zurich', [repeated('2026-10-25 02:00')]],
  ['@every 90s', 'Europe/Zurich', []],
  ['30 2 * * *', 'UTC', []],
  ['30 2 * * *', 'Asia/Tokyo', []],
])('%s in %s: %j', (text, timeZone, expected) => {
  const read = readCron(text, timeZone);
  expect(read.ok && clockChanges(read.expressions, timeZone, from)).toEqual(expected);
});
