/**
 * One turn: what a model is asked, and what comes of it. A turn is one request on the provider's wire and
 * never more; retrying is the caller's. It ends in a reply or in a failure of a closed union; only a
 * cancelled turn throws, and what it throws is the reason of the signal.
 */
import type { RawAnswer } from '../../../prisma/store/contract/models/raw-answer-contract.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { AnswerBlock, Message } from './message.ts';
import type { TurnFailure } from './turn-failure.ts';
import type { TokenUsage } from '../../../language/models/token-usage.ts';

export interface Tool {
  /** The command's name; on the wire `/` is written as `_`. */
  name: string;
  description: string;
  /** JSON Schema of an object. */
  parameters: JsonObject;
}

/** How long a model may think before it answers; what a provider makes of it is data of the model's record. */
export const EFFORTS = ['off', 'low', 'medium', 'high', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

export interface Adapter {
  /** A LoRA adapter in GGUF: absolute path. */
  path: string;
  scale: number;
  /** SHA-256 of the model's file that it was made for; absent: nobody knows. */
  base?: string;
}

export interface TurnRequest {
  /** The id as the provider knows it, without the provider's name. */
  model: string;
  adapters?: readonly Adapter[];
  system?: string;
  messages: readonly Message[];
  tools?: readonly Tool[];
  /** `required`: the model must call one. Default `auto`. */
  toolChoice?: 'auto' | 'required' | 'none';
  /** The answer is JSON of this schema. */
  schema?: JsonObject;
  temperature?: number;
  /** Tokens of the answer, thinking included where the provider counts it. */
  maxTokens?: number;
  thinking?: Effort;
  stop?: readonly string[];
  /** How long the provider should keep the prefix of the request; nothing is marked without it. */
  cache?: '5m' | '1h';
  /** Tokens of context to allocate, where the provider allocates; default what the model's facts say. */
  window?: number;
}

/** Text as it comes. Whoever shows it drops what an attempt said when a later attempt begins. */
export type Delta =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  /** `call` counts the calls of the turn from 0. */
  | { type: 'tool-call'; call: number; name: string; arguments: string };

export const STOP_REASONS = [
  /** The model is done. */
  'end',
  /** The reply has calls, and all of them may run. */
  'tool-calls',
  /** Cut at `maxTokens`; the reply has no calls, since a call may have been cut. */
  'max-tokens',
  'stop-sequence',
  /** The provider interrupted a long turn: send the conversation with this answer again. */
  'pause',
  'refusal',
  /** Cut where the context ended; the reply has no calls. */
  'window-full',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Parts of a request that the model's record says it would refuse, so that they were not sent. */
export const OMISSIONS = ['temperature', 'thinking', 'schema', 'cache', 'stop', 'toolChoice'] as const;
export type Omission = (typeof OMISSIONS)[number];

export interface TurnReply {
  blocks: AnswerBlock[];
  stopReason: StopReason;
  usage: TokenUsage;
  /** The provider counted, and what it said is no count: `usage` is estimated. */
  isMiscounted?: true;
  /** As the provider named it in the answer. */
  model: string;
  /** `provider/model` as asked: the `author` of the message that this answer becomes. */
  author: string;
  requestId: string | null;
  omitted: Omission[];
}

export type TurnResult = { ok: true; reply: TurnReply } | { ok: false; failure: TurnFailure };

export interface TurnLimits {
  /** Until the provider answers at all: where a model is loaded first, minutes. */
  headersMs: number;
  /** Without a byte, once it has begun. */
  idleMs: number;
  /** For the whole turn. */
  wallMs: number;
  /** Of the answer on the wire. */
  wireBytesMax: number;
  /** Of text, thoughts and arguments together. */
  answerBytesMax: number;
}

const minute = 60_000;

export const TURN_LIMITS: TurnLimits = {
  headersMs: 10 * minute,
  idleMs: 3 * minute,
  wallMs: 60 * minute,
  wireBytesMax: 64 * 1024 * 1024,
  answerBytesMax: 4 * 1024 * 1024,
};

/** Keeps what comes, or has it already (world/models/http/tape.ts). */
export interface TurnTape {
  kept: RawAnswer | null;
  /** `spent`: about what it cost. */
  keep(answer: RawAnswer, spent: TokenUsage): Promise<void>;
}

export interface TurnOptions {
  signal: AbortSignal;
  /** Absent: what comes is kept nowhere before it is read. */
  tape?: TurnTape;
  onDelta?: (delta: Delta) => void;
  /** Told before it rejects with the signal's reason: what came until then has cost, about. */
  onCut?: (spent: TokenUsage) => void;
  limits?: Partial<TurnLimits>;
}
