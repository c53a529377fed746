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
export const CHANGE = { attemptsInWalk: 'attempts-in-walk', handlersLast: 'handlers-last', carriedWaits: 'carried-waits' } as const;

export const CHANGES: readonly BehaviourChange[] = [
  {
    id: CHANGE.attemptsInWalk,
    reason:
      'Retries were those of the activity, so a stop waited for all of them; steps that hold others ignored retry and timeoutMs. ' +
      'Now the walk tries every kind of step again, each attempt with keys of its own, and a timer bounds steps that hold others.',
    since: '2026-11-22',
  },
  {
    id: CHANGE.handlersLast,
    reason:
      'A handler of pause, resume, stop, an answer or an edit ran before what the same activation had resolved, which a worker that ' +
      'took over could see otherwise than the replay after it. Now it runs after everything else of the activation (last-in-turn.ts).',
    since: '2026-11-22',
  },
  {
    id: CHANGE.carriedWaits,
    reason:
      'A step that had waited before the run continued as new, and was ended on the way back to it, recorded no end, left its question ' +
      'open until the run had cleaned up, and was charged to the budget again; a rest between passes or attempts held up the ' +
      'continue-as-new of every sibling; time that the run was held counted against waits for events. Now each has its end at once and ' +
      'is counted once, what is left of a rest is taken after the continue-as-new, and held time does not count.',
    since: '2026-11-22',
  },
];
