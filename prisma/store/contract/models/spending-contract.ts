/**
 * What models cost. Every request has a row from the moment it is made; it is settled with the answer, or
 * with the failure. What is summed are these rows, so an attempt that failed counts, a turn that a fork
 * took over does not count twice, and what an attempt cost that was lost with its worker is said to be
 * unknown.
 */
import type { TokenUsage } from '../../../../language/models/token-usage.ts';

/** What one request cost. */
export interface Spent {
  /** `provider/model`; null where it did not come to one. */
  model: string | null;
  tokens: TokenUsage;
  /** US dollars; null where nobody knows the price. */
  usd: number | null;
}

/** One request: who asked for which turn. */
export interface SpendingOf {
  handle: string;
  /** The key of the step. */
  conversation: string;
  turn: number;
  attempt: string;
}

export const COST_GROUPS = ['model', 'sentinel', 'day', 'step', 'persona', 'run'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

export interface CostQuery {
  /** This run and all runs nested in it. */
  handle?: string;
  persona?: string;
  /** Requests from this moment on, in milliseconds since the epoch. */
  since?: number;
  by: CostGroup;
}

/** A sum. Tokens that were sent are `input + cacheRead + cacheWrite`. */
export interface CostSum {
  requests: number;
  /** Of these, those that came to no answer; what they used is in the sum. */
  failed: number;
  /** Of these, those that nobody heard the end of: what they cost is not known, and in no sum. */
  lost: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  thinking: number;
  /** Requests whose tokens are estimated. */
  estimated: number;
  /** US dollars, of the requests whose price is known. */
  usd: number;
  /** Tokens of requests whose price nobody knows. */
  unpricedTokens: number;
}

export interface CostRow extends CostSum {
  /**
   * A model, a definition's name, a day (UTC, `YYYY-MM-DD`), a persona or a handle; of a step its key, behind
   * the keys that lead to a nested run, or, over all runs, the definition's name and the step's path.
   */
  group: string;
}

export interface Costs {
  total: CostSum;
  /** The dearest first; days in their order. */
  rows: CostRow[];
}

export interface SpendingStore {
  /** Says what a request came to that failed. */
  failed(of: SpendingOf, spent: Spent): Promise<void>;
  /** Nothing was asked after all, or what it cost is kept elsewhere. */
  withdraw(of: SpendingOf): Promise<void>;
  sum(query: CostQuery): Promise<Costs>;
}
