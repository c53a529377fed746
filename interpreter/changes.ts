/**
 * The ledger of behaviour changes (I10). From the first release on, a change that a running run's replay
 * would notice gets an entry here, a branch on `isNewFor` (the walk) or `hasChange` (workflow code) where
 * it takes effect, and a recorded history from before in test/histories/. An entry stays while a run from
 * before may live.
 *
 * A run starts with the level of its day in its start input and takes the newest one when it continues
 * as new: it has every change up to that level, without an event in its history. The marker of
 * `patched()` tells whether a run from before came to a change later.
 */
export interface BehaviourChange {
  /** Passed to `patched()`; never reused. */
  id: string;
  /** Runs that start with this level, or a higher one, have the change. From 1 on. */
  level: number;
  /** Runs from before never get it: every run of a kind would pay for the marker. */
  isOnlyForNew?: true;
  /** What was, what is now, and why. */
  reason: string;
  /** ISO date. */
  since: string;
}

export const CHANGES = {} as const satisfies { readonly [name: string]: BehaviourChange };

/** The level that runs start with today: the highest of the ledger, 0 while it is empty. */
export const LEVEL_NOW = levelOf(CHANGES);

export function levelOf(changes: { readonly [name: string]: BehaviourChange }): number {
  return Object.values(changes).reduce((highest, { level }) => Math.max(highest, level), 0);
}

/** Whether a run started with the change. Pure, for the walk, and all there is for a change that only new runs have. */
export const isNewFor = ({ level = 0 }: { readonly level?: number }, change: BehaviourChange): boolean =>
  level >= change.level;
