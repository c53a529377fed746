/** What the contract suite knows of a provider's wire: how it writes an answer, an error, and a request. */
import type { JsonObject } from '../../../language/json.ts';
import type { ProviderKind } from '../../../world/models/records/table.ts';
import type { Provider } from '../../../world/models/provider/provider.ts';
import type { Reply } from './double.ts';

export type Part =
  | { text: readonly string[] }
  | { thinking: readonly string[]; signature?: readonly string[] }
  | { redacted: string }
  /** `pieces` joined are the arguments. */
  | { call: { id: string; name: string; pieces: readonly string[] } };

export interface Said {
  parts: readonly Part[];
  /** As this wire says it. */
  reason: string;
  /** Null: the provider says none. Tokens as this suite counts them: cached ones are not in `input`. */
  usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number; thinking?: number } | null;
  model?: string;
}

/** A message as it stood on the wire. */
export interface Sent {
  role: string;
  texts: string[];
  thoughts: string[];
  redacted: string[];
  calls: { id: string; name: string; input: unknown }[];
  results: { id: string; text: string; isError: boolean }[];
  images: string[];
}

export interface Wire {
  kind: ProviderKind;
  model: string;
  path: string;
  open(url: string): Provider;
  /** Events of an answer; the last ones end it. `interleaved`: pieces of calls come in turn. */
  events(said: Said, interleaved?: boolean): string[];
  /** The same answer, as it is where nobody asked for a stream. */
  whole(said: Said): JsonObject;
  streamType: string;
  reasons: { end: string; calls: string; length: string };
  /** What its wire can say. */
  can: {
    thinkingSignatures: boolean;
    redaction: boolean;
    cutArguments: boolean;
    cachedTokens: boolean;
  };
  /** An event in the stream that says that the provider is overloaded. */
  overloadEvent: string;
  errors: {
    auth: Reply;
    unknownModel: Reply;
    overflow: Reply;
    overloaded: Reply;
    rateLimited(headers: Record<string, string>): Reply;
    /** Null: it bills nobody. */
    spent: Reply | null;
  };
  messages(body: JsonObject): Sent[];
  toolNames(body: JsonObject): string[];
  schemaOf(body: JsonObject): unknown;
}

export const json = { 'content-type': 'application/json' };

export const streamed = (wire: Wire, events: readonly string[], rest: Partial<Reply> = {}): Reply => ({
  headers: { 'content-type': wire.streamType },
  pieces: events,
  ...rest,
});

/** A field of a body as text. */
export const word = (field: unknown): string => (typeof field === 'string' ? field : (JSON.stringify(field) ?? ''));

/** An error as the server of a path says it. */
export const wireError = (path: string, message: string): string =>
  JSON.stringify({ error: path.startsWith('/v1/') ? { message, code: null } : message });
