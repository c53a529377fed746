/** What an HTTP server answered instead of a stream, and how long it asks to be left alone. */
import { ownMasker } from '../../own-keys/own-keys.ts';
import type { Json } from '../../../language/json.ts';
import { exactJson } from '../../../language/numbers/exact-json.ts';
import { restMsMax } from '../../../language/limits.ts';

export interface Refusal {
  status: number;
  headers: Headers;
  /** The body where it is JSON; else null. */
  body: Json;
  text: string;
}

export function refusalOf(status: number, headers: Headers, text: string): Refusal {
  try {
    return { status, headers, body: exactJson(text, 'nearest'), text };
  } catch {
    return { status, headers, body: null, text };
  }
}

/** The beginning of a body, on one line. Masked first: a part of a key, cut off here, is none that is looked for. */
export const excerpt = (text: string): string => ownMasker().text(text).replaceAll(/\s+/g, ' ').trim().slice(0, 200);

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
