/** What an HTTP server answered instead of a stream. */
import { ownMasker } from '../../own-keys/own-keys.ts';
import type { Json } from '../../../language/json.ts';
import { exactJson } from '../../../language/numbers/exact-json.ts';

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
