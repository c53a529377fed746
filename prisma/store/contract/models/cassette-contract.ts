/**
 * Requests to models as they went out, with what came of each: what a cassette is made of. And runs whose
 * models answer from a cassette: which, and which of its entries each request of theirs has taken.
 */
import type { JsonObject } from '../../../../language/json.ts';
import type { AskedRequest, ConversationOf } from './conversation-contract.ts';

export interface RequestOf extends ConversationOf {
  turn: number;
  /** The key it was made under: another attempt under the same key takes its place. */
  asker: string;
}

export interface StoredRequest extends RequestOf, AskedRequest {}

/** What a replayed run belongs to: the run that was started, and the cassette by its hash in the payloads. */
export interface Replayed {
  root: string;
  cassette: string;
}

export interface Cassettes {
  /** Keeps requests that came to no answer; those of an answer are kept with it. */
  keep(of: RequestOf, requests: readonly AskedRequest[]): Promise<void>;
  /** The requests of a run and of all runs below it, in the order in which they were kept. */
  requests(handle: string): AsyncGenerator<StoredRequest>;
  /** What stood beside the messages of a conversation's latest request; null where none is kept. */
  head(of: ConversationOf): Promise<JsonObject | null>;
  /** Said before the run starts: it, and all runs below it, answer from that cassette; null: from models, whatever was said before. */
  replay(handle: string, cassette: string | null): Promise<void>;
  /** Null where its models are asked. */
  replayed(handle: string): Promise<Replayed | null>;
  /** Said before a run starts that a step of another run starts. */
  startedBy(handle: string, by: string): Promise<void>;
  /** The entry that the claimant has, or now gets: the first of these that nobody has. Null where all are taken. */
  claim(root: string, claimant: string, entries: readonly number[]): Promise<number | null>;
}
