/**
 * Runs that are looked at while the worker that began their task is lost (workflows/replay-order/task-boundaries.ts): whoever
 * takes over is handed the lost task for its own, and the run replays all the same.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { expect, test } from 'vitest';
import type { Step } from '../../../../language/model.ts';
import { viewerOf } from '../../../../runs/temporal-connection.ts';
import { QUERIES } from '../../../../workflows/messages/messages.ts';
import { create, once, shell } from '../../harness/definitions.ts';
import { until, type Harness } from '../../harness/harness.ts';
import { useHarnesses } from '../../harness/opened.ts';
import { notReplayed } from '../../harness/replayed.ts';

const runs = 8;
const pollMs = 20_000;
const askedMs = 15_000;
/** The questions are with the server before the tasks are; for five seconds it keeps them for the worker that knew the runs. */
const askedFirstMs = 500;
const { TaskQueueKind } = temporal.api.enums.v1;
/** Activities of their own: nothing that is tried again begins in a segment. */
const apart = { retry: { attempts: 2 } };
const openHarness = useHarnesses();

/** What is known of a run whose first shell step has ended, and whose second one is under way. */
interface Waiting {
  handle: string;
  /** What the worker that knows the run is given first. */
  stickyQueue: string;
  activityId: string;
  /** What the first step came to. */
  result: Payload;
}

async function waiting(harness: Harness, handle: string): Promise<Waiting> {
  const { events } = await harness.history(handle);
  const queues = (events ?? []).map((event) => event.workflowTaskScheduledEventAttributes?.taskQueue);
  const results = (events ?? []).map((event) => event.activityTaskCompletedEventAttributes?.result);
  const ids = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityId);
  return {
    handle,
    stickyQueue: queues.findLast((queue) => queue?.kind === TaskQueueKind.TASK_QUEUE_KIND_STICKY)?.name ?? '',
    activityId: ids.findLast((id) => typeof id === 'string') ?? '',
    result: results.findLast((result) => result?.payloads?.length)?.payloads?.[0] ?? {},
  };
}

/** Ends the second step as the lost worker would have, with what the first one came to. */
async function endStep({ client }: Harness, workflowId: string, { activityId, result }: Waiting): Promise<void> {
  const { namespace, loadedDataConverter } = client.options;
  const owner = { type: 'activity', namespace, workflowId, activityId, isLocal: false } as const;
  let payloads = await viewerOf(client).decode([result]);
  for (const codec of loadedDataConverter.payloadCodecs) payloads = await codec.encode(payloads, owner);
  await client.workflowService.respondActivityTaskCompletedById({
    namespace,
    workflowId,
    activityId,
    result: { payloads },
    identity: 'lost',
  });
}

/** Takes workflow tasks as the lost worker would have, and never ends them; questions that come instead are lost. */
async function takeTasks({ client, taskQueue }: Harness, stickyQueue: string, count: number): Promise<void> {
  for (let taken = 0; taken < count;) {
    const queue = { name: stickyQueue, kind: TaskQueueKind.TASK_QUEUE_KIND_STICKY, normalName: taskQueue };
    const request = { namespace: client.options.namespace, identity: 'lost', taskQueue: queue };
    const task = await client.withDeadline(Date.now() + pollMs, () =>
      client.workflowService.pollWorkflowTaskQueue(request),
    );
    if (task.query === null || task.query === undefined) taken += 1;
  }
}

test.concurrent.each<[string, Step[]]>([
  ['long', [shell('true')]],
  ['quick', [create('rows', { n: 1 }), create('rows', { n: 2 }), shell('true')]],
])('a run that was asked while its task was lost, and goes on with %s steps, replays', async (kind, rest) => {
  const harness = await openHarness();
  const lost = await harness.startWorker();
  const definition = once(`asked-in-a-lost-task-${kind}`, [shell('true', apart), shell('sleep 20', apart), ...rest]);
  const handles = await Promise.all(
    Array.from({ length: runs }, (_, n) => harness.start(definition, { handle: `asked-in-a-lost-task-${kind}-${n}` })),
  );
  for (const handle of handles) {
    await harness.untilEvent(handle, ({ type, key }) => type === 'step-started' && key.startsWith('steps.1'));
    await until(
      async () => (await harness.workflow(handle).describe()).raw.pendingActivities?.[0]?.lastStartedTime !== null,
    );
  }
  const known = await Promise.all(handles.map((handle) => waiting(harness, handle)));
  await lost.kill9();

  const { client } = harness;
  const asked = handles.map((handle) =>
    client
      .withDeadline(Date.now() + askedMs, () => harness.workflow(handle).query(QUERIES.steps))
      .catch(() => undefined),
  );
  await sleep(askedFirstMs);
  for (const one of known) await endStep(harness, harness.workflow(one.handle).workflowId, one);
  await takeTasks(harness, known[0]?.stickyQueue ?? '', runs);
  const said = handles.map((handle) => harness.say(handle, 'pause').catch(() => undefined));
  const next = await harness.startWorker();
  await Promise.all([...asked, ...said]);
  for (const handle of handles) {
    await harness.say(handle, 'resume').catch(() => undefined);
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
  expect(next.isAlive).toBe(true);
  await next.stop();
});
