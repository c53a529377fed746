/**
 * When a clock is put forward, an hour of the day is missing, and what is due in it does not start; only what is due in
 * every hour misses nothing. When it is put back, an hour comes twice, and Temporal's calendars then start a run once or
 * twice, or leave out some, depending on the zone: in Zurich "0,30 2 * * *" starts at the second 02:00 and at 03:30.
 */
import { Cron } from 'croner';

/** `at`: the local time at which the schedule is due, as `2027-03-28 02:30`. */
export interface ClockChange {
  at: string;
  what: 'skipped' | 'repeated';
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What becomes of the cron texts of a schedule in the year from `from` on, in the order of time. */
export function clockChanges(expressions: readonly string[], timeZone: string, from: number): ClockChange[] {
  // An interval is no time of the day.
  const crons = expressions.flatMap((text) => (/^@every/i.test(text) ? [] : [readAsUtc(text)]));
  return changesOf(timeZone, from).flatMap(({ at, before, after }) => {
    const [first, end] = [at + Math.min(before, after), at + Math.max(before, after)];
    const what = after > before ? 'skipped' : 'repeated';
    const affected = crons.filter((cron) => what === 'repeated' || !isEveryHour(cron, first, end));
    const [earliest] = affected.flatMap((cron) => dueIn(cron, first, end)).toSorted((a, b) => a - b);
    if (earliest === undefined) return [];
    return [{ at: new Date(earliest).toISOString().slice(0, 16).replace('T', ' '), what }];
  });
}

/** Local times are calculated with as if they were UTC. A year at the end is Temporal's own. */
function readAsUtc(text: string): Cron {
  const fields = text.split(' ');
  return new Cron((fields.length === 7 ? fields.slice(0, 6) : fields).join(' '), { paused: true, timezone: 'UTC' });
}

function dueIn(cron: Cron, first: number, end: number): number[] {
  const next = cron.nextRun(new Date(first - 1000))?.getTime();
  return next === undefined || next >= end ? [] : [next];
}

const isEveryHour = (cron: Cron, first: number, end: number): boolean =>
  dueIn(cron, first - HOUR, first).length > 0 && dueIn(cron, end, end + HOUR).length > 0;

interface Change {
  /** The first moment after it, in milliseconds since the epoch; offsets to UTC in milliseconds. */
  at: number;
  before: number;
  after: number;
}

function changesOf(timeZone: string, from: number): Change[] {
  const offsetAt = offsetsOf(timeZone);
  const changes: Change[] = [];
  const start = Math.floor(from / DAY) * DAY;
  for (let day = start; day < start + 366 * DAY; day += DAY) {
    const [before, after] = [offsetAt(day), offsetAt(day + DAY)];
    if (before === after) continue;
    let [same, changed] = [day, day + DAY];
    while (changed - same > MINUTE) {
      const middle = Math.floor((same + changed) / 2 / MINUTE) * MINUTE;
      if (offsetAt(middle) === before) same = middle;
      else changed = middle;
    }
    changes.push({ at: changed, before, after });
  }
  return changes;
}

function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) - at;
  };
}
