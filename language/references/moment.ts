/** Times as a definition writes them. */

/** Date and time with the zone; seconds and less may be left out. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970; null for what is no time, and for one without a zone, which each host would read in its own. */
export function momentIn(text: string): number | null {
  const written = text.trim();
  if (!MOMENT.test(written)) return null;
  const moment = Date.parse(written);
  return Number.isNaN(moment) ? null : moment;
}
