/** The made-up workflow with the change, and without an entry in the ledger. */
import { sleep } from '@temporalio/workflow';
import type { MadeUpStart } from './made-up-change.ts';

export async function madeUp(_start: MadeUpStart): Promise<void> {
  await sleep(10);
  await sleep(10);
}
