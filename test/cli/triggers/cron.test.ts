/** Cron text as Temporal is given it. */
import { expect, test } from 'vitest';
import { readCron } from '../../../runs/calendar/cron.ts';

test.each<[string, string[]]>([
  ['0 9 * * 1-5', ['0 9 * * 1-5']],
  ['  */5   * * * *  ', ['*/5 * * * *']],
  ['0 9 * * MON-FRI', ['0 9 * * MON-FRI']],
  ['0 9 1 JUL *', ['0 9 1 JUL *']],
  ['0 9 ? * 1', ['0 9 * * 1']],
  ['*/10 * * * * *', ['*/10 * * * * * *']],
  ['0 9 1 * 1', ['0 9 1 * *', '0 9 * * 1']],
  ['30 0 9 1,15 * FRI', ['30 0 9 1,15 * * *', '30 0 9 * * FRI *']],
  ['@daily', ['@daily']],
  ['@every 90s', ['@every 90s']],
  ['@every 1h30m', ['@every 1h30m']],
])('"%s" is %j', (text, expressions) => {
  expect(readCron(text, 'Europe/Zurich')).toEqual({ ok: true, expressions });
});

test.each<[string, RegExp]>([
  ['', /it has 0 fields/],
  ['* * * *', /it has 4 fields/],
  ['* * * * * * *', /it has 7 fields/],
  ['60 * * * *', /minute: 60/],
  ['* * * * 8', /8/],
  ['a b c d e', /no cron text/],
  ['0 0 L * *', /L and W/],
  ['0 9 15W * *', /L and W/],
  ['* * * * 1#2', /"#" means nothing/],
  ['0 0 31 2 *', /a time that never comes/],
  ['0 0 0 30 FEB *', /a time that never comes/],
  ['@sometimes', /no cron text/],
  ['@every soon', /no cron text/],
])('"%s" is refused: %s', (text, finding) => {
  const read = readCron(text, 'UTC');
  expect(read.ok ? '' : read.finding).toMatch(finding);
});

test('a time zone that nobody knows is refused', () => {
  expect(readCron('@daily', 'Europe/Atlantis')).toEqual({
    ok: false,
    finding: expect.stringContaining('"Europe/Atlantis" is not known') as string,
  });
});
