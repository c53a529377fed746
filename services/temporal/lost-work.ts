/**
 * What a worker that has ended was at, given back at once to whoever serves its queues now. The Temporal server would
 * wait: for an activity until heartbeats have been missed, for a workflow task until its time is over, and for the
 * next task of a run until nobody has taken it from the queue that the worker had for its cached runs.
 *
 * - The server is asked what each open run of the queues waits for, and by whom; only what is under the name of the
 *   ended worker is given back. So nothing has to be noted while it works, and what it was handed in its last moment
 *   is found, too.
 * - An activity fails as lost, and begins again without a pause, with what was heartbeated. One that was to be
 *   cancelled is cancelled.
 * - A workflow task fails with the token of that very start, and is handed out again. Of one that only brings an
 *   update, and of a later attempt, the history says nothing before it has ended, nor does the server say who has it:
 *   it was the ended worker where nobody else who lives asks the queue for tasks.
 * - Whatever waits in the worker's own queue is taken from it and handed out again, and the queue is closed, after
 *   which the server puts tasks on the common one.
 */
import type { Connection, WorkflowService } from '@temporalio/client';
import { namesOfPollers } from './queue-pollers.ts';
import { type StartedTask, taskTokenOf } from './task-token.ts';

export interface LostWorker {
  identity: string;
  namespace: string;
  taskQueues: readonly string[];
  /** The version whose runs it had; null: any. */
  version: { deploymentName: string; buildId: string } | null;
}

export interface GivenBack {
  activities: number;
  tasks: number;
}

/** As the code of an attempt's failure, which the next attempt takes the place of. */
const LOST = 'WORKER_LOST';
const PAGE = 1000;
const AT_ONCE = 10;
/** In so many of its last events a run has its last task, but for wide branches. */
const LAST_EVENTS = 40;
/**
 * With this cause alone the server counts no attempt: of later attempts the history does not say who began them. And
 * with any cause the run leaves the worker's queue.
 */
const FAILOVER: object = { cause: 18 };
/** Values of the API's enumerations. */
const ACTIVITY = { started: 2, cancelRequested: 3 } as const;
const TASK = { scheduled: 1, started: 2 } as const;
const STICKY: number = 2;
const VERSIONED = 2;
/** The server refuses a shorter poll, and says a second before its end that there is nothing. */
const POLL_MS = 2500;

type Described = Awaited<ReturnType<WorkflowService['describeWorkflowExecution']>>;
type Activity = NonNullable<Described['pendingActivities']>[number];
type Events = NonNullable<
  NonNullable<Awaited<ReturnType<WorkflowService['getWorkflowExecutionHistory']>>['history']>['events']
>;
type WorkflowTask = NonNullable<Described['pendingWorkflowTask']>;

interface Run {
  workflowId: string;
  runId: string;
}

type Server = Pick<Connection, 'workflowService' | 'withDeadline'>;

/** Rejects where the server does not answer; what one run refuses keeps none of the others from it. */
export async function giveBack(
  server: Server,
  lost: LostWorker,
  hasEnded: (identity: string) => boolean,
): Promise<GivenBack> {
  const work = new LostWork(server, lost, hasEnded);
  await work.giveBack();
  return work.given;
}

/** A worker's own queue, for the runs that it has cached, and how many tasks wait in it. */
interface StickyQueue {
  name: string;
  normalName: string;
  waiting: number;
}

class LostWork {
  readonly given: GivenBack = { activities: 0, tasks: 0 };
  readonly #server: Server;
  readonly #service: WorkflowService;
  readonly #lost: LostWorker;
  /** By the task queue that the worker serves beside, once a run has shown it. */
  readonly #sticky = new Map<string, StickyQueue>();
  readonly #hasEnded: (identity: string) => boolean;
  #namespaceId: Promise<string> | undefined;

  constructor(server: Server, lost: LostWorker, hasEnded: (identity: string) => boolean) {
    this.#hasEnded = hasEnded;
    this.#server = server;
    this.#service = server.workflowService;
    this.#lost = lost;
  }

  async giveBack(): Promise<void> {
    for await (const runs of this.#openRuns()) {
      const waiting = runs.values();
      const look = async (): Promise<void> => {
        for (const run of waiting) await this.#look(run).catch(() => undefined);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, look));
    }
    const { namespace, identity } = this.#lost;
    const reason = 'the worker has ended';
    for (const queue of this.#sticky.values()) {
      await this.#empty(queue).catch(() => undefined);
      await this.#service.shutdownWorker({ namespace, identity, stickyTaskQueue: queue.name, reason });
    }
  }

  async #empty({ name, normalName, waiting }: StickyQueue): Promise<void> {
    const { namespace, identity, version } = this.#lost;
    const taskQueue = { name, normalName, kind: STICKY };
    const asked = {
      namespace,
      identity,
      taskQueue,
      ...(version === null ? {} : { deploymentOptions: { ...version, workerVersioningMode: VERSIONED } }),
    };
    for (let left = waiting; left > 0; left -= 1) {
      const polled = this.#server.withDeadline(Date.now() + POLL_MS, () => this.#service.pollWorkflowTaskQueue(asked));
      const { taskToken } = await polled;
      if (!taskToken || taskToken.length === 0) return;
      await this.#failTask(taskToken);
    }
  }

  async *#openRuns(): AsyncGenerator<Run[]> {
    const { namespace, taskQueues } = this.#lost;
    const names = taskQueues.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
    const query = `ExecutionStatus = 'Running' AND TaskQueue IN (${names})`;
    let nextPageToken: Uint8Array = new Uint8Array();
    do {
      const page = await this.#service.listWorkflowExecutions({ namespace, query, pageSize: PAGE, nextPageToken });
      yield (page.executions ?? []).map(({ execution }) => ({
        workflowId: execution?.workflowId ?? '',
        runId: execution?.runId ?? '',
      }));
      nextPageToken = page.nextPageToken ?? new Uint8Array();
    } while (nextPageToken.length > 0);
  }

  async #look(run: Run): Promise<void> {
    const { namespace, identity } = this.#lost;
    const found = await this.#service.describeWorkflowExecution({ namespace, execution: run });
    const task = found.pendingWorkflowTask;
    const standing = Number(task?.state);
    const queue = found.executionConfig?.taskQueue?.name ?? '';
    if (task && standing === TASK.started) await this.#giveTaskBack(run, task, queue);
    else if (standing === TASK.scheduled || !this.#sticky.has(queue))
      await this.#unstick(run, standing === TASK.scheduled);
    const activities = (found.pendingActivities ?? []).filter((one) => one.lastWorkerIdentity === identity);
    for (const activity of activities) await this.#giveActivityBack(run, activity);
  }

  async #giveActivityBack(run: Run, { activityId, state }: Activity): Promise<void> {
    const { namespace, identity } = this.#lost;
    const named = { namespace, identity, ...run, activityId: activityId ?? '' };
    if (Number(state) === ACTIVITY.cancelRequested) await this.#service.respondActivityTaskCanceledById(named);
    else if (Number(state) === ACTIVITY.started)
      await this.#service.respondActivityTaskFailedById({ ...named, failure: lostFailure(identity) });
    else return;
    this.given.activities += 1;
  }

  async #giveTaskBack(run: Run, { attempt }: WorkflowTask, queue: string): Promise<void> {
    const { namespace } = this.#lost;
    const [last] = await this.#lastEvents(run, 1);
    const ids = last === undefined ? null : await this.#startOf(last, queue);
    if (ids === null) return;
    this.#namespaceId ??= this.#service
      .describeNamespace({ namespace })
      .then(({ namespaceInfo }) => namespaceInfo?.id ?? '');
    const taskToken = taskTokenOf({
      ...run,
      ...ids,
      namespaceId: await this.#namespaceId,
      attempt: attempt ?? 1,
      version: BigInt(last?.version?.toString() ?? 0),
    });
    await this.#failTask(taskToken);
  }

  /** By the last event of its run; null where somebody else has the task, or may have it. */
  async #startOf(
    { eventId, workflowTaskStartedEventAttributes: started }: Events[number],
    queue: string,
  ): Promise<Pick<StartedTask, 'scheduledEventId' | 'startedEventId'> | null> {
    const { identity, namespace } = this.#lost;
    const id = BigInt(eventId?.toString() ?? 0);
    if (started) {
      if (started.identity !== identity || !started.scheduledEventId) return null;
      return { scheduledEventId: BigInt(started.scheduledEventId.toString()), startedEventId: id };
    }
    const names = await namesOfPollers(this.#server, namespace, queue);
    const others = [...names].filter((name) => name !== identity && !this.#hasEnded(name));
    // It gets the events that come next.
    return others.length > 0 ? null : { scheduledEventId: id + 1n, startedEventId: id + 2n };
  }

  async #failTask(taskToken: Uint8Array): Promise<void> {
    const { identity, namespace } = this.#lost;
    const failure = lostFailure(identity);
    await this.#service.respondWorkflowTaskFailed({ namespace, identity, taskToken, failure, ...FAILOVER });
    this.given.tasks += 1;
  }

  /** By what one run shows, the queue is closed for all. Until one does, each leaves it by itself. */
  async #unstick(run: Run, isWaiting: boolean): Promise<void> {
    const { namespace, identity } = this.#lost;
    const events = await this.#lastEvents(run, LAST_EVENTS);
    const scheduled = events.find((event) => event.workflowTaskScheduledEventAttributes);
    const { name, kind, normalName } = scheduled?.workflowTaskScheduledEventAttributes?.taskQueue ?? {};
    if (Number(kind) === STICKY && normalName && name?.startsWith(`${identity}-`) === true) {
      const queue = this.#sticky.get(normalName) ?? { name, normalName, waiting: 0 };
      this.#sticky.set(normalName, { ...queue, waiting: queue.waiting + (isWaiting ? 1 : 0) });
      return;
    }
    const last = events.find((event) => event.workflowTaskCompletedEventAttributes);
    if (last?.workflowTaskCompletedEventAttributes?.identity === identity)
      await this.#service.resetStickyTaskQueue({ namespace, execution: run });
  }

  /** The last one first. */
  async #lastEvents(run: Run, maximumPageSize: number): Promise<Events> {
    const { namespace } = this.#lost;
    const asked = { namespace, execution: run, maximumPageSize };
    return (await this.#service.getWorkflowExecutionHistoryReverse(asked)).history?.events ?? [];
  }
}

/** The server tries it again at once, however often it has been lost. */
const lostFailure = (identity: string) => ({
  message: `the worker ${identity} has ended`,
  source: 'sentinel',
  applicationFailureInfo: { type: LOST, nonRetryable: false, nextRetryDelay: { nanos: 1_000_000 } },
});
