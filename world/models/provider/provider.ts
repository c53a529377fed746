/**
 * What a provider has to do. `send` is one request; all that does not depend on the wire (what the model
 * takes, repair of the conversation, what an answer means, limits, failures) is done around it in
 * take-turn.ts and by the `Assembler`.
 */
import type { Assembler } from '../answer/assembler.ts';
import type { Tape } from '../http/tape.ts';
import type { ModelFacts } from '../records/facts.ts';
import type { WireNames } from '../request/wire-names.ts';
import type { TurnLimits, TurnReply, TurnRequest } from '../port/turn.ts';

export interface Sending {
  facts: ModelFacts;
  names: WireNames;
  assembler: Assembler;
  signal: AbortSignal;
  limits: TurnLimits;
  /** For the bytes of the answer, where there are any. */
  tape?: Tape | undefined;
}

/** What a provider says of a model, where it says anything; what is absent the record answers. */
export type ReportedFacts = Partial<ModelFacts>;

export interface ListedModel {
  /** As `send` takes it. */
  id: string;
  sizeBytes: number | null;
  /** Tokens of context that are allocated now, where the model is loaded. */
  allocated: number | null;
  /** Tokens it was trained for, where the provider lists them. */
  window: number | null;
}

/** How the provider answers right now; `message` says what to do where it does not. */
export type Health = { ok: true; ms: number } | { ok: false; message: string };

export interface PullProgress {
  status: string;
  /** Null while the size is not known. */
  totalBytes: number | null;
  completedBytes: number | null;
}

export interface Embedding {
  /** One for each text, in their order, all of one length. */
  vectors: number[][];
  /** What tells the model from others of its name; null where the provider does not say. */
  version: string | null;
}

export interface Provider {
  /** The first part of `provider/model`. */
  readonly name: string;
  /** True when its models run on hardware of the user's: preferred by `auto`. */
  readonly isLocal: boolean;
  /** True when its list says which models there are, since whoever runs it has chosen them. */
  readonly isListed: boolean;
  /** The variables or fields that configure it, for messages. */
  readonly setting: string | null;
  /** Null: it can be asked. Else what is missing, as a sentence. */
  readonly missing: string | null;
  /** Rejects with a `TurnError`, or with the signal's reason. `request` has passed the model's facts. */
  send(request: TurnRequest, sending: Sending): Promise<Omit<TurnReply, 'author' | 'omitted'>>;
  describe(model: string, signal: AbortSignal): Promise<ReportedFacts>;
  list(signal: AbortSignal): Promise<ListedModel[]>;
  /** Vectors of texts, where what does not fit is cut; absent: its API makes none. Rejects with a `TurnError`, or with the signal's reason. */
  embed?(model: string, texts: readonly string[], signal: AbortSignal): Promise<Embedding>;
  /** Loads a model onto the provider's machine; absent where there is nothing to load. */
  pull?(model: string, signal: AbortSignal, onProgress: (progress: PullProgress) => void): Promise<void>;
  close(): Promise<void>;
}
