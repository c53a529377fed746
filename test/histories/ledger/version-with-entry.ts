/** The made-up workflow with the change, behind its entry in the ledger. */
import { sleep } from '@temporalio/workflow';
import { hasChange } from '../../../workflows/replay-order/has-change.ts';
import { SECOND_REST, type MadeUpStart } from './made-up-change.ts';

export async function madeUp(start: MadeUpStart): Promise<void> {
  await sleep(10);
  if (hasChange(start, SECOND_REST)) await sleep(10);
}
