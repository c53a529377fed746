/** A made-up entry of the ledger: what each version of a made-up workflow does about it. */
import type { BehaviourChange } from '../../../interpreter/changes.ts';

export const SECOND_REST = {
  id: 'made-up-second-rest',
  level: 1,
  reason: 'The workflow rested once. Now it rests twice, so that a replay can tell the two apart.',
  since: '2026-11-25',
} as const satisfies BehaviourChange;

/** What the made-up workflow starts with, as a run does. */
export interface MadeUpStart {
  level?: number;
}
