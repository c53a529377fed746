/** Rate limits and circuit breakers, shared by all workers of a database. */

export interface Rate {
  perMinute?: number;
  /** At once. */
  concurrent?: number;
}

export interface Breaker {
  /** In a row. */
  failures: number;
  /** From the first of them to the last. */
  windowMs: number;
  restMs: number;
}

/** `id`: of the use that has begun. `waitMs`: until it has its place, or is to ask again; `because` says which limit it is. */
export type Permit = { ok: true; id: string } | { ok: false; waitMs: number; because: 'perMinute' | 'concurrent' };

/** `probe`: it was open, and whoever asks now finds out. */
export type Passage = { ok: true; probe: boolean } | { ok: false; waitMs: number; finding: string };

export interface CircuitState {
  subject: string;
  failures: number;
  state: 'closed' | 'open' | 'half-open';
  /** Milliseconds since the epoch; null where it is closed. */
  openUntil: number | null;
  finding: string;
}

export interface LimitStore {
  /** A use under that id; asked again before it has begun, it is the same use. It counts as under way for so long, or until `release`. */
  permit(subject: string, id: string, rate: Rate, underWayMs: number): Promise<Permit>;
  release(subject: string, id: string): Promise<void>;
  /** Whether something may be asked of the subject now. */
  pass(subject: string, restMs: number): Promise<Passage>;
  /** What it came to; `finding`: why it failed. */
  settle(subject: string, breaker: Breaker, finding: string | null): Promise<void>;
  circuits(): Promise<CircuitState[]>;
  /** Removes uses that count no longer. */
  sweep(): Promise<void>;
}
