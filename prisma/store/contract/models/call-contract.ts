/**
 * Calls of models that must not be done twice without a word. A call is claimed before it begins, whoever
 * performs it; whoever comes later finds the claim, and with it the outcome, where there is one.
 */
import type { FailureInfo } from '../../../../language/failure.ts';
import type { Json } from '../../../../language/json.ts';
import type { ConversationOf, PlacedMessage } from './conversation-contract.ts';

/** Which call: of a turn's calls, from 0. */
export interface CallOf extends ConversationOf {
  turn: number;
  call: number;
}

export interface Claimant {
  /** The key of the call. */
  key: string;
  /** Who does it, and nobody else: the same again has its own claim. */
  attempt: string;
  /** How often it is begun, by decision and not by accident: 1 the first time. */
  tries: number;
}

/** `unknown`: another attempt of the same try claimed it, and nobody knows what came of it. */
export type Claim = { state: 'claimed' } | { state: 'ended'; outcome: CallOutcome } | { state: 'unknown' };

export type CallOutcome = { ok: true; value: Json } | { ok: false; failure: FailureInfo };

export interface StoredCall extends CallOf, Claimant {
  state: 'begun' | 'done' | 'failed';
  begunAt: number;
  endedAt: number | null;
}

/** Rows of others, written in the same transaction: an insert of rows in a parameter, and one of them as JSON text. */
export interface RowsBeside {
  readonly all: readonly (readonly [{ text(rows: string): string }, string])[];
}

export interface Calls {
  /** `rows` are written with it. */
  claim(of: CallOf, by: Claimant, rows?: RowsBeside): Promise<Claim>;
  /**
   * Keeps the outcome and what the conversation gets of it together, with `rows`, and returns the outcome that counts: the
   * first one.
   */
  end(of: CallOf, outcome: CallOutcome, messages: readonly PlacedMessage[], rows?: RowsBeside): Promise<CallOutcome>;
  /** The claimed calls of a run, in the order in which they began. */
  list(handle: string): Promise<StoredCall[]>;
}
