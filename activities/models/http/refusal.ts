/** What an HTTP server answered instead of a stream. */
import type { Json } from '../../../language/json.ts';

export interface Refusal {
  status: number;
  headers: Headers;
  /** The body where it is JSON; else null. */
  body: Json;
  text: string;
}

export function refusalOf(status: number, headers: Headers, text: string): Refusal {
  try {
    return { status, headers, body: JSON.parse(text) as Json, text };
  } catch {
    return { status, headers, body: null, text };
  }
}

/** The beginning of a body, on one line. */
export const excerpt = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
