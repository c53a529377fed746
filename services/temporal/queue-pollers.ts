/** Who serves a task queue, as Temporal says it. */
import type { Connection } from '@temporalio/client';

/** Whoever asked longer ago may be gone. */
const RECENTLY_SECONDS = 120;
const ACTIVITIES = 2;

/** Workers of any machine that asked the queue for tasks lately, by name. `isOfCommands`: it has no workflows. */
export async function namesOfPollers(
  { workflowService }: Pick<Connection, 'workflowService'>,
  namespace: string,
  queue: string,
  isOfCommands = false,
): Promise<Set<string>> {
  const kind: object = isOfCommands ? { taskQueueType: ACTIVITIES } : {};
  const reply = await workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, ...kind });
  const recently = Date.now() / 1000 - RECENTLY_SECONDS;
  const lately = (reply.pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) > recently);
  return new Set(lately.map(({ identity }) => identity ?? ''));
}

/** How many they are. */
export async function pollersOf(...asked: Parameters<typeof namesOfPollers>): Promise<number> {
  return (await namesOfPollers(...asked)).size;
}
