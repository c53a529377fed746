/** Whether a run has a change of the ledger. */
import { patched } from '@temporalio/workflow';
import type { BehaviourChange } from './changes.ts';

export function hasChange(run: { readonly level?: number }, change: BehaviourChange): boolean {
  return (run.level ?? 0) >= change.level || (change.isOnlyForNew !== true && patched(change.id));
}
