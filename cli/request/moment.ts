/** A moment in the past, as a person writes it: a date, a time, or how long ago. */
import { lengthIn, missingDay, momentIn } from '../../language/references/times.ts';
import { usage } from './usage.ts';

/** How far a calendar reaches. */
const agoMax = 100 * 366 * 86_400_000;

/** Milliseconds since the epoch. A date without a time is its beginning, in UTC; a time without a zone is of this machine. */
export function momentOf(option: string, now: () => number = Date.now): (text: string) => number {
  return (text) => {
    const ago = lengthIn(text.trim());
    if (ago !== undefined && ago <= agoMax) return now() - ago;
    const missing = missingDay(text);
    if (missing !== null) throw usage(`${option} is "${text}", and there is no ${missing}; write a day that there is.`);
    const at = momentIn(text) ?? (/^\d{4}-\d\d-\d\d[T ]/.test(text) ? Date.parse(text) : Number.NaN);
    if (!Number.isNaN(at)) return at;
    throw usage(
      `${option} is "${text}"; write a date (2026-11-25), a time (2026-11-25T14:00Z) or how long ago (90m, 12h, 7d).`,
    );
  };
}
