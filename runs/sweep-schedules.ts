/**
 * Retires values that were sealed for schedules and are in none: the schedule was removed or changed in
 * Temporal itself, or making it failed in a way that told nobody whether it had been made.
 *
 * - Only values sealed a day ago or earlier are looked at: no schedule is still being made with them.
 * - Only a schedule's own namespace is asked. Whatever it cannot say now, it is asked at the next sweep.
 */
import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { WORKFLOW_TYPE } from '../workflows/messages/messages.ts';
import { hasRunsUnderWay } from './schedules.ts';
import type { RunServices } from './start-run.ts';
import { namespaceId } from './temporal-connection.ts';

type Parts = Pick<RunServices, 'client' | 'store'>;

export async function sweepSchedules({ client, store }: Parts): Promise<void> {
  const namespace = await namespaceId(client);
  for (let after = ''; ;) {
    const page = await store.secrets.ofSchedules(namespace, after);
    for (const { schedule, tokens } of page) {
      // One that cannot be asked about keeps none of the others from it.
      await retireUnused({ client, store }, schedule, tokens).catch(() => undefined);
      after = schedule;
    }
    if (page.length === 0) return;
  }
}

async function retireUnused({ client, store }: Parts, schedule: string, tokens: readonly string[]): Promise<void> {
  const held = await startedWith(client, schedule);
  const unused = tokens.filter((token) => !held.includes(token));
  if (unused.length === 0 || (await hasRunsUnderWay(client, schedule))) return;
  await store.secrets.retire(unused, { mayBeHeld: true });
}

/** What the runs of a schedule start with, as text; none where there is no schedule. */
async function startedWith({ schedule }: Client, id: string): Promise<string> {
  try {
    const { action } = await schedule.getHandle(id).describe();
    return action.workflowType === WORKFLOW_TYPE ? JSON.stringify(action.args ?? []) : '';
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return '';
    throw error;
  }
}
