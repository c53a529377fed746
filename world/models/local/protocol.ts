/** What is said between a worker and the process that holds a local model. */
import type { JsonObject } from '../../../language/json.ts';
import type { Message } from '../port/message.ts';
import type { Adapter, Effort, StopReason } from '../port/turn.ts';
import type { Finding } from '../port/turn-failure.ts';

export interface LocalTurn {
  adapters: Adapter[];
  system: string | null;
  messages: Message[];
  /** By their names on the wire. */
  tools: { name: string; description: string; parameters: JsonObject }[];
  /** As the grammar takes it (grammar-schema.ts). */
  schema: JsonObject | null;
  temperature: number | null;
  maxTokens: number | null;
  thinking: Effort | null;
  stop: string[];
  /** Tokens of context; the process may allocate a few more. */
  window: number;
}

/** Environment of the process. */
export const MODEL_FILE = 'SENTINEL_MODEL_FILE';
export const MODEL_THREADS = 'SENTINEL_MODEL_THREADS';

/** What a model is asked for: an answer, or a vector of each text. */
export type Asked = { type: 'turn'; turn: LocalTurn } | { type: 'embed'; texts: readonly string[] };

export type ToModel = (Asked & { id: number }) | { type: 'stop'; id: number };

export interface LocalUsage {
  /** Tokens that were computed, and tokens that stood in the context from before. */
  input: number;
  cacheRead: number;
  output: number;
}

export type FromModel =
  | { type: 'text'; id: number; text: string }
  | { type: 'thinking'; id: number; text: string }
  | { type: 'call'; id: number; index: number; name: string; arguments: string }
  /** Of the next text. */
  | { type: 'vector'; id: number; vector: number[] }
  /** The model is loaded, and the prompt counted. */
  | { type: 'begun'; id: number; tokens: number }
  | { type: 'done'; id: number; reason: StopReason; usage: LocalUsage }
  | { type: 'failed'; id: number; finding: Finding; message: string }
  /** As it was told to. */
  | { type: 'stopped'; id: number };
