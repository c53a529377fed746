/** How a run stands: its report, what it is, and what it and those nested in it wait for. */
import type { InboxItem, Run } from '../../prisma/store/contract/contract.ts';
import type { FailingRun, QueuedStep, RunReport } from './run-report.ts';
import { waitingWithin, type WaitingRun } from './waiting-runs.ts';
import { defined } from '../../language/defined.ts';

type Described = Pick<Run, 'name' | 'project' | 'persona' | 'parent' | 'inputs' | 'startedAt' | 'finishedAt'>;

export interface RunStanding extends RunReport, Described {
  /** Nested runs that wait. */
  waiting: WaitingRun[];
  /** Those that are open, of nested runs too. */
  questions: InboxItem[];
  /** Where its workflow task fails each time, so that it stands still. */
  failing?: FailingRun;
  /** Its steps that wait for a place on a queue of their own; with no `workers` nobody serves that. */
  queued?: QueuedStep[];
}

type Asked = Parameters<typeof waitingWithin>[0] & {
  find(handle: string): Promise<Run>;
  status(handle: string): Promise<RunReport>;
  inbox(query: { handle: string }): Promise<InboxItem[]>;
  failing(runs: readonly Pick<Run, 'handle' | 'status'>[]): Promise<Map<string, FailingRun>>;
  queued(run: Pick<Run, 'handle' | 'status'>): Promise<QueuedStep[]>;
};

/** Throws `RUN_NOT_FOUND`. */
export async function standingOf(client: Asked, handle: string): Promise<RunStanding> {
  const [run, report, items] = await Promise.all([
    client.find(handle),
    client.status(handle),
    client.inbox({ handle }),
  ]);
  const questions = items.filter(({ state }) => state === 'open');
  const [waiting, failing, queued] = await Promise.all([
    waitingWithin(client, handle, questions),
    client.failing([run]),
    client.queued(run),
  ]);
  const stuck = failing.get(handle);
  const { name, project, persona, parent, inputs, startedAt, finishedAt } = run;
  const described = { name, project, persona, parent, inputs, startedAt, finishedAt };
  return {
    ...report,
    ...described,
    waiting,
    questions,
    ...defined({ failing: stuck, queued: queued.length === 0 ? undefined : queued }),
  };
}
