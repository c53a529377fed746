/** The made-up workflow as it was before the change. */
import { sleep } from '@temporalio/workflow';
import type { MadeUpStart } from './made-up-change.ts';

export async function madeUp(_start: MadeUpStart): Promise<void> {
  await sleep(10);
}
