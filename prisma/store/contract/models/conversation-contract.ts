/**
 * What models were asked and what they answered: conversations as messages in order, and the turns that
 * made them. Everything is written once for its place and stays, so that any attempt may write it again.
 */
import type { JsonObject } from '../../../../language/json.ts';
import type { Spent } from './spending-contract.ts';

/** Which conversation: the run, and the key of its step (`steps.2@1`). */
export interface ConversationOf {
  handle: string;
  conversation: string;
}

/** What is said beside a turn's answer and the results of its calls stands from this part on: behind any number of these. */
export const besidesPart = 1_000_000;

/** Turn 0 holds what a conversation begins with; within a turn the parts are in order. */
export interface PlacedMessage {
  turn: number;
  part: number;
  message: JsonObject;
}

export interface StoredMessage extends PlacedMessage {
  /** SHA-256 of the message's JSON text. */
  hash: string;
}

export interface StoredTurn {
  conversation: string;
  turn: number;
  /** Who asked last. */
  attempt: string;
  begunAt: number;
  answeredAt: number | null;
  /** What came of it; null while nothing has. */
  answer: JsonObject | null;
  /** The run that took it and paid for it, where this one is a fork. */
  copiedOf: string | null;
}

/** What of a conversation another run goes on with. */
export interface ConversationPart extends ConversationOf {
  /** Messages before this place. */
  before: Pick<PlacedMessage, 'turn' | 'part'>;
  /** Turns up to this one. */
  turns: number;
}

/** One request, and what came of it. */
export interface AskedRequest {
  /** What stands beside the messages: the model that was asked for and the one it was, system, tools, settings. */
  head: JsonObject;
  messages: readonly JsonObject[];
  /** A reply or a failure. */
  outcome: JsonObject;
}

/** `isFirst`: nobody asked before. */
export interface TurnClaim {
  answer: JsonObject | null;
  isFirst: boolean;
}

/** What an answer took. */
export interface AnswerTaken {
  attempt: string;
  /** Null where no model was asked: the answer is a recorded one. */
  spent: Spent | null;
  /** The requests, and the key under which they were made. */
  asked: { asker: string; requests: readonly AskedRequest[] };
}

export interface Conversations {
  /** A place that is taken keeps what it has. */
  add(of: ConversationOf, messages: readonly PlacedMessage[]): Promise<void>;
  /** In order; `before` leaves out what belongs to that turn and later ones. */
  read(of: ConversationOf, before?: number): Promise<StoredMessage[]>;
  /** Whether somebody has asked for the turn. */
  wasAsked(of: ConversationOf, turn: number): Promise<boolean>;
  /**
   * Says who asks now. A turn that has an answer is not to be asked again. `isRequest`:
   * false where it may come to its answer without a model.
   */
  claim(of: ConversationOf, turn: number, attempt: string, how?: { isRequest: boolean }): Promise<TurnClaim>;
  /**
   * Keeps the answer, its message, what it cost and the requests that it took together, and returns the answer
   * that counts: the first one. Any other was paid for, too.
   */
  answer(
    of: ConversationOf,
    turn: number,
    answer: JsonObject,
    message: JsonObject,
    taken: AnswerTaken,
  ): Promise<JsonObject>;
  /** The answer of a turn, where it has one. */
  find(of: ConversationOf, turn: number): Promise<JsonObject | null>;
  /** Gives another run what it goes on with: its messages are the same ones, and its turns were paid. */
  copy(part: ConversationPart, to: string): Promise<void>;
  /** The turns of a run, in the order in which they began. */
  turns(handle: string): Promise<StoredTurn[]>;
}
