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

/** Ids as the code names them. */
export const CHANGE = { attemptsInWalk: 'attempts-in-walk' } as const;

export const CHANGES: readonly BehaviourChange[] = [
  {
    id: CHANGE.attemptsInWalk,
    reason:
      'Retries were those of the activity, so a stop waited for all of them; steps that hold others ignored retry and timeoutMs. ' +
      'Now the walk tries every kind of step again, each attempt with keys of its own, and a timer bounds steps that hold others.',
    since: '2026-11-22',
  },
];
