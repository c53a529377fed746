/**
 * Answers of providers as they came, kept and charged before anything is read from them: an attempt that was lost
 * with its worker, or could not write what it had read, is followed by one that reads the same answer again.
 */
import type { Spent, SpendingOf } from './spending-contract.ts';

/** `asker`: the key under which it was asked, since who asks once more wants another answer. `request`: a digest of what was asked, since a turn may ask more than once. */
export interface RawAnswerOf extends SpendingOf {
  asker: string;
  request: string;
}

export interface RawAnswer {
  status: number;
  /** Those that say how to read it, and no others: a provider sets cookies, and names accounts. */
  headers: [name: string, value: string][];
  /** As gzip. */
  body: Uint8Array;
}

export interface KeptAnswer extends RawAnswer {
  /** Whose request it was, which pays for it. */
  attempt: string;
}

export interface RawAnswers {
  /** The first one stays. `spent`: about what it cost; whoever has read it says it exactly. */
  keep(of: RawAnswerOf, answer: RawAnswer, spent: Spent): Promise<void>;
  find(of: RawAnswerOf): Promise<KeptAnswer | null>;
  /** Of runs that ended more than a day ago. */
  sweep(): Promise<void>;
}
