/** A moment in the past, as a person writes it: a date, a time, or how long ago. */
import { usage } from './usage.ts';

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds since the epoch. A date without a time is its beginning, in UTC. */
export function momentOf(option: string, now: () => number = Date.now): (text: string) => number {
  return (text) => {
    const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
    if (count !== undefined) return now() - Number(count) * (UNITS[unit] ?? 0);
    const at = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    throw usage(
      `${option} is "${text}"; write a date (2026-11-25), a time (2026-11-25T14:00Z) or how long ago (90m, 12h, 7d).`,
    );
  };
}
