/** Times as a definition and a command line write them. */

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
