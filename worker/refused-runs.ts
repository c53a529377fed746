/**
 * Ends a run whose record the store refuses. It cannot go on: whatever it did would be known to nobody, and
 * the task that recorded it would be tried for ever. Its workflow is terminated, and its row, its steps and
 * its questions are settled; runs nested in it end with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { RunStarted } from '../language/events/run-event.ts';
import type { Run, Store } from '../prisma/store/contract/contract.ts';
import { isAway } from '../prisma/store/connection/unavailable.ts';
import { wakeRun } from '../runs/run-controller.ts';
import { settleRun, type OutsideEnd } from '../runs/settle-run.ts';
import { workflowIdOf } from '../workflows/messages/messages.ts';
import type { EndRefused } from './run-recorder.ts';

const RETRY_MS = 500;
const findingMax = 300;

export interface RefusedRunParts {
  client: Pick<Client, 'workflow'>;
  store: Pick<Store, 'runs' | 'events' | 'inbox' | 'leases'>;
  say: (text: string) => void;
}

export function refusedRunEnder({ client, store, say }: RefusedRunParts): EndRefused {
  return async (handle, error, start) => {
    const finding = (error instanceof Error ? error.message : String(error)).slice(0, findingMax);
    const message = `the database refuses what ${handle} records (${finding}), so the run was ended; see what its latest step returned, and start it anew without that`;
    const end: OutsideEnd = { code: 'RECORD_REFUSED', message, at: Date.now() };
    say(`${handle} is ended: RECORD_REFUSED: ${message}`);
    try {
      await whenAnswered(() => terminate(client, handle, end.code));
      await whenAnswered(() => settle({ client, store }, handle, start, end));
    } catch (refusal) {
      say(`the end of ${handle} was not recorded (${refusal instanceof Error ? refusal.message : String(refusal)})`);
    }
  };
}

async function terminate(client: RefusedRunParts['client'], handle: string, reason: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowIdOf(handle)).terminate(reason);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

async function settle(
  { client, store }: Pick<RefusedRunParts, 'client' | 'store'>,
  handle: string,
  start: RunStarted | undefined,
  end: OutsideEnd,
): Promise<void> {
  const run = (await store.runs.find(handle)) ?? (await begun(store, handle, start));
  if (run !== null && run.finishedAt === null) await settleRun(store, run, end, (other) => wakeRun(client, other));
}

/** A nested run has no row before its start is written: it gets one without what it was given. */
async function begun(
  store: RefusedRunParts['store'],
  handle: string,
  start: RunStarted | undefined,
): Promise<Run | null> {
  if (start === undefined) return null;
  await store.events.append(handle, [{ ...start, inputs: {} }]);
  return store.runs.find(handle);
}

/** Waits for a server or a store that is away; both are needed for whatever else the worker does, too. */
async function whenAnswered(ask: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error) && !hasNoAnswer(error)) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Of gRPC: deadline exceeded, resource exhausted, unavailable. */
const NO_ANSWER: ReadonlySet<number> = new Set([4, 8, 14]);

const hasNoAnswer = (error: unknown): boolean =>
  error instanceof ServiceError && isGrpcServiceError(error.cause) && NO_ANSWER.has(error.cause.code);
