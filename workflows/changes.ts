/**
 * The ledger of behaviour changes (I10). A change that a running run's replay would notice gets an
 * entry here, a branch on `patched(id)` where it takes effect, and a recorded history from before in
 * test/histories/. Entries are never removed while a run from before may live.
 */
export interface BehaviourChange {
  /** Passed to `patched()`; never reused. */
  id: string;
  /** What was, what is now, and why. */
  reason: string;
  /** ISO date. */
  since: string;
}

export const CHANGES: readonly BehaviourChange[] = [];
