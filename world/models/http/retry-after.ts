import { restMsMax } from '../../../language/limits.ts';

/** How long a provider asks to be left alone, from the headers of its answer; at most a year. */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const asked = askedIn(headers, now);
  return asked === null ? null : Math.min(asked, restMsMax);
}

function askedIn(headers: Headers, now: number): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const given = headers.get('retry-after')?.trim() ?? '';
  if (given === '') return null;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.round(seconds * 1000) : null;
  const at = Date.parse(given);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
