/**
 * Notices a run whose workflow was ended from outside (terminated in the Web UI, deleted, timed out):
 * it writes no last event, and whoever follows it would wait for ever.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';

const LOOK_MS = 10_000;
/** A run that has just ended may still be writing that it did. */
const GRACE_MS = 5_000;

interface Looking {
  handle: string;
  store: Store;
  client: () => Promise<Client>;
  signal: AbortSignal;
}

/** How the workflow ended, once it has ended and its run has not; null when the signal aborts first. */
export async function waitForLoss({ handle, store, client, signal }: Looking): Promise<string | null> {
  for (;;) {
    if (!(await rest(LOOK_MS, signal))) return null;
    const ended = await howItEnded(handle, client);
    if (ended === null) continue;
    if (!(await rest(GRACE_MS, signal))) return null;
    const run = await store.runs.find(handle).catch(() => undefined);
    if (run !== undefined && run?.finishedAt === null) return ended;
  }
}

/** Null while it runs, and while nobody can tell. */
async function howItEnded(handle: string, client: () => Promise<Client>): Promise<string | null> {
  try {
    const { status } = await (await client()).workflow.getHandle(workflowIdOf(handle)).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED' ? null : status.name.toLowerCase();
  } catch (error) {
    return error instanceof Error && error.name === 'WorkflowNotFoundError' ? 'deleted' : null;
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    // The only way for a sleep to fail is its signal.
    return false;
  }
}
