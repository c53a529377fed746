/** Days as a calendar somewhere has them: of 23 to 25 hours where clocks change, and gone where a date line moves. */

export interface Day {
  /** `2026-11-30` */
  date: string;
  /** Its first moment, and that of the next day, in milliseconds since the epoch. */
  from: number;
  until: number;
}

/** Longer than any day, and than two where one is left out. */
const REACH_MS = 75 * 3_600_000;

const calendars = new Map<string, Intl.DateTimeFormat>();
/** By zone, the day that was asked for last: of many that are asked for, most are the same. */
const latest = new Map<string, Day>();

function calendarOf(timeZone: string): Intl.DateTimeFormat {
  const known = calendars.get(timeZone);
  if (known !== undefined) return known;
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const made = new Intl.DateTimeFormat('en-CA', { ...fields, timeZone, calendar: 'iso8601', numberingSystem: 'latn' });
  calendars.set(timeZone, made);
  return made;
}

/** `timeZone`: an IANA name; others are refused by the platform (`RangeError`). */
export function dayAt(now: number, timeZone: string): Day {
  const known = latest.get(timeZone);
  if (known !== undefined && known.from <= now && now < known.until) return known;
  const calendar = calendarOf(timeZone);
  const date = dateAt(calendar, now);
  const day = {
    date,
    from: firstMoment(now - REACH_MS, now, (at) => dateAt(calendar, at) >= date),
    until: firstMoment(now, now + REACH_MS, (at) => dateAt(calendar, at) > date),
  };
  latest.set(timeZone, day);
  return day;
}

function dateAt(calendar: Intl.DateTimeFormat, at: number): string {
  const parts = new Map(calendar.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${parts.get('year') ?? ''}-${parts.get('month') ?? ''}-${parts.get('day') ?? ''}`;
}

/** Of those after `before`, up to `last`, which is one. */
function firstMoment(before: number, last: number, isSo: (at: number) => boolean): number {
  let [no, yes] = [before, last];
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2);
    if (isSo(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
