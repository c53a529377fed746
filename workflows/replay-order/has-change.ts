/** Whether a run has a change of the ledger. */
import { patched } from '@temporalio/workflow';
import { isNewFor, type BehaviourChange } from '../../interpreter/changes.ts';

export function hasChange(run: { readonly level?: number }, change: BehaviourChange): boolean {
  return isNewFor(run, change) || (change.isOnlyForNew !== true && patched(change.id));
}
