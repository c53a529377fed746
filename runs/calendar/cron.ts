/**
 * Cron text as people write it, as the text Temporal's schedules take.
 *
 * Five fields are minute, hour, day, month, weekday; six have the second in front; `@hourly`, `@daily`,
 * `@weekly`, `@monthly`, `@yearly` and `@every 30s` are spelt out as they are. Where both a day and a weekday are
 * given cron means either, Temporal both: then the text becomes two.
 */
import { Cron } from 'croner';
import { shortened } from '../../language/events/preview.ts';
import { CRON_LENGTH_MAX, SOME_DAY } from '../../language/read/checks/settings.ts';

const NAMED = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;
const EVERY = /^@every +((?:\d+(?:\.\d+)?(?:h|m|s))+)$/i;

export type CronReading = { ok: true; expressions: string[] } | { ok: false; finding: string };

export function readCron(text: string, timeZone: string): CronReading {
  if (text.length > CRON_LENGTH_MAX)
    return {
      ok: false,
      finding: `"${shortened(text, 40)}" is no cron text: it is longer than ${CRON_LENGTH_MAX} characters`,
    };
  const given = text.trim().replaceAll(/\s+/g, ' ');
  if (!isTimeZone(timeZone))
    return { ok: false, finding: `the time zone "${timeZone}" is not known; write an IANA name such as Europe/Zurich` };
  if (NAMED.test(given) || EVERY.test(given)) return { ok: true, expressions: [given] };
  if (given.startsWith('@'))
    return { ok: false, finding: `"${text}" is no cron text; write five fields, @daily, or @every 30s` };
  const finding = findingOf(given);
  if (finding !== null)
    return {
      ok: false,
      finding: `"${text}" is no cron text (${finding}); write minute, hour, day, month and weekday, such as "0 9 * * 1-5"`,
    };
  return { ok: true, expressions: eitherDay(given.split(' ')) };
}

/** Temporal knows seven fields, the second in front and the year at the end. */
function eitherDay(fields: readonly string[]): string[] {
  const [second, ...rest] = fields.length === 6 ? fields : ['0', ...fields];
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = rest;
  const spelt = (ofMonth: string, ofWeek: string): string =>
    fields.length === 6
      ? `${second} ${minute} ${hour} ${ofMonth} ${month} ${ofWeek} *`
      : `${minute} ${hour} ${ofMonth} ${month} ${ofWeek}`;
  if (isAny(day) || isAny(weekday)) return [spelt(day.replace('?', '*'), weekday.replace('?', '*'))];
  return [spelt(day, '*'), spelt('*', weekday)];
}

const isAny = (field: string): boolean => field === '*' || field === '?';

function findingOf(text: string): string | null {
  const count = text === '' ? 0 : text.split(' ').length;
  if (count !== 5 && count !== 6) return `it has ${count} fields, and 5 or 6 are needed`;
  const unknown = /[^\s\d*?,/A-Za-z-]/.exec(text)?.[0];
  if (unknown !== undefined) return `"${unknown}" means nothing here`;
  if (/(?:^|[\s,])L|\d[LW]/i.test(text)) return 'L and W are not known to schedules';
  try {
    // Reads it only; without a function nothing is ever run.
    const next = new Cron(text, { paused: true, timezone: 'UTC' }).nextRun(new Date(SOME_DAY));
    return next === null || next === undefined ? 'it names a time that never comes' : null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : String(error);
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0);
    return true;
  } catch {
    return false;
  }
}
