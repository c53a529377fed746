/** Lengths of time, moments and time zones, as definitions and the command line write them. */
const LENGTHS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const NUMBER = /^\d+(?:\.\d+)?$/;

const PART =
  /(\d+(?:\.\d+)?)\s*(ms|[smhdw])(?:ecs?|econds?|ins?|inutes?|ours?|rs?|ays?|eeks?|illis|illiseconds?)?(?![a-z])\s*/iy;

/** Examples, for whoever wrote something else. */
export const DURATION_WORDS = 'milliseconds (30000) or a time with its unit (30s, 5m, 1h30m)';

/** Milliseconds: of a number of them, and of a time with its unit. */
export function durationIn(written: string): number | undefined {
  const text = written.trim();
  return NUMBER.test(text) ? Number(text) : lengthIn(text);
}

/** Milliseconds of `90s`, `1h30m`, `5 minutes`, and as ISO 8601 writes it: `PT5M`. */
export function lengthIn(written: string): number | undefined {
  const text = /^P(?:\d+[DW])*(?:T(?:\d+(?:\.\d+)?[HMS])+)?$/i.test(written)
    ? written.replaceAll(/[PT]/gi, '')
    : written;
  let sum = 0;
  PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    const [, amount, unit = ''] = PART.exec(text) ?? [];
    const length = LENGTHS[unit.toLowerCase()];
    if (length === undefined) return undefined;
    sum += Number(amount) * length;
  }
  return text === '' ? undefined : Math.round(sum);
}

/** A date, which is its beginning in UTC, or a date and a time with the zone; seconds and less may be left out. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/;
const DAY = /^(\d{4})-(\d\d)-(\d\d)(?!\d)/;

/** Milliseconds since 1970; null for what is no time, and for one without a zone, which each host would read in its own. */
export function momentIn(text: string): number | null {
  const written = text.trim();
  if (!MOMENT.test(written) || missingDay(written) !== null) return null;
  const moment = Date.parse(written.replace(' ', 'T'));
  return Number.isNaN(moment) ? null : moment;
}

/** The day that a text begins with, where no calendar has it: the platform reads 30 February as 2 March. */
export function missingDay(text: string): string | null {
  const [day, year, month, date] = DAY.exec(text.trim()) ?? [];
  if (day === undefined) return null;
  const read = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)));
  return read.getUTCMonth() + 1 === Number(month) && read.getUTCDate() === Number(date) ? null : day;
}

/** The name of a time zone as whoever keeps schedules knows it, to whom zones are files: capitals count. Undefined for what is no zone. */
export function zoneIn(written: string): string | undefined {
  const name = written.trim();
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : nameIn(name);
  } catch {
    return undefined;
  }
}

/** One that the platform takes for another zone, under a name of its own (`Asia/Calcutta`, `US/Eastern`). */
function nameIn(name: string): string {
  const listed = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase() === name.toLowerCase());
  return listed ?? name;
}
