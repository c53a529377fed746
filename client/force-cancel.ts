/**
 * Ending a run that takes no cancellation: its workflow task fails again and again, or no worker serves it.
 * Its workflow and those nested in it are terminated, so no clean-up runs; what they leave is settled here.
 *
 * A run is terminated before those nested in it: it would go on with its next step otherwise.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Store } from '../prisma/store/contract/contract.ts';
import type { RunningExecution } from '../prisma/store/contract/execution-contract.ts';
import { ClientError } from '../runs/client-error.ts';
import { wakeRun } from '../runs/run-controller.ts';
import { settleRun, type OutsideEnd, type Settled } from '../runs/settle-run.ts';
import { handleOf, workflowIdOf } from '../workflows/messages/messages.ts';
import type { Config } from '../services/config/config.ts';
import type { Cancelled } from './cancel-run.ts';
import type { Forced, ForcedRun } from './contract/requests.ts';
import { reportOf, reportWithoutRow, webUrlOf } from './lookup/run-report.ts';
import { noSuchRun } from './lookup/no-such-run.ts';
import { pollUntil } from './follow/poll-until.ts';

/** What a worker recorded of the run before it was ended may be on its way for so long. */
const GRACE_MS = 1_500;
/** A worker hears within seconds that a run has ended, and ends its processes in as many. */
const PROCESSES_MAX_MS = 15_000;

interface Parts {
  store: Store;
  client: Client;
}

/** Ends it, and says how it stands then. */
export async function cancelByForce(
  { config, ...parts }: Parts & { config: Config },
  handle: string,
  by: string,
): Promise<Cancelled> {
  const forced = await forceCancel(parts, handle, by);
  const run = await parts.store.runs.find(handle);
  const nothing = { held: null, places: [], waits: [], underWay: [], told: [], origin: null };
  const report =
    run === null ? reportWithoutRow(handle, webUrlOf(handle, config)) : reportOf(run, config, Date.now(), nothing);
  return { report, questions: [], forced };
}

export async function forceCancel(parts: Parts, handle: string, by: string): Promise<Forced> {
  const { store } = parts;
  const message = `${by} ended ${handle} by force: its clean-up did not run, and the steps under way have no result`;
  const end: OutsideEnd = { code: 'CANCELLED_BY_FORCE', message, at: Date.now() };
  const before = await store.runs.find(handle);
  const workflows = await terminateAll(parts, handle, end.code);
  if (workflows.get(handle) === 'unknown' && before === null) throw await noSuchRun(store, handle);
  const processes = await processesOf(store, workflows);
  const isTerminated = [...workflows.values()].includes('terminated');
  if (isTerminated) await sleep(GRACE_MS);
  const runs: ForcedRun[] = [];
  for (const [run, workflow] of workflows) runs.push({ handle: run, workflow, ...(await settle(parts, run, end)) });
  if (!isTerminated && processes.length === 0 && runs.every(({ row }) => row !== 'settled')) {
    const how = before?.outcome ?? 'ended';
    throw new ClientError('RUN_ENDED', `${handle} has ended (${how}); there is nothing to cancel.`);
  }
  return { runs, processes: await endProcesses(store, new Set(workflows.keys()), processes) };
}

async function terminateAll(
  { store, client }: Parts,
  handle: string,
  reason: string,
): Promise<Map<string, ForcedRun['workflow']>> {
  const workflows = new Map<string, ForcedRun['workflow']>();
  const waiting = [handle];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (workflows.has(next)) continue;
    const { workflow, children } = await terminate(client, next, reason);
    // Temporal ends an awaited nested run with the one around it.
    workflows.set(next, workflow === 'had ended' && next !== handle ? 'terminated' : workflow);
    waiting.push(...children, ...(await store.runs.underWayBelow(next)));
  }
  return workflows;
}

/** Its children are named by Temporal too: one that has only begun has no row. */
async function terminate(
  client: Client,
  handle: string,
  reason: string,
): Promise<{ workflow: ForcedRun['workflow']; children: string[] }> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  try {
    const { status, raw } = await run.describe();
    const children = (raw.pendingChildren ?? []).flatMap(({ workflowId }) =>
      workflowId === null || workflowId === undefined ? [] : [handleOf(workflowId)],
    );
    if (status.name !== 'RUNNING' && status.name !== 'PAUSED') return { workflow: 'had ended', children };
    await run.terminate(reason);
    return { workflow: 'terminated', children };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { workflow: 'unknown', children: [] };
    throw error;
  }
}

async function settle(
  { store, client }: Parts,
  handle: string,
  end: OutsideEnd,
): Promise<Settled & Pick<ForcedRun, 'row'>> {
  const run = await store.runs.find(handle);
  if (run === null) return { row: 'none', questions: 0, steps: 0 };
  if (run.finishedAt !== null) return { row: 'had ended', questions: 0, steps: 0 };
  return { row: 'settled', ...(await settleRun(store, run, end, (other) => wakeRun(client, other))) };
}

async function processesOf(store: Store, handles: ReadonlyMap<string, unknown>): Promise<RunningExecution[]> {
  return (await store.executions.running()).filter(({ handle }) => handles.has(handle));
}

/** Living workers end what they hold once they hear of the end; what dead ones of this host left is ended here. */
async function endProcesses(
  store: Store,
  handles: ReadonlySet<string>,
  held: readonly RunningExecution[],
): Promise<Forced['processes']> {
  const { endOrphansOf, isLeft } = await import('../world/processes/run-orphans.ts');
  const isOrphaned = await Promise.all(held.map((execution) => isLeft(execution)));
  const orphaned = held.filter((_, index) => isOrphaned[index] === true);
  const orphans = await endOrphansOf(handles, orphaned);
  for (const execution of orphaned) await store.executions.finish(execution, { exitCode: 137, signal: 'SIGKILL' });
  const running = async (): Promise<RunningExecution[]> => {
    const ids = new Set((await store.executions.running()).map(({ id }) => id));
    return held.filter(({ id }) => ids.has(id));
  };
  await pollUntil(PROCESSES_MAX_MS, async () => ((await running()).length === 0 ? true : undefined));
  const left = await running();
  const steps = new Set([
    ...orphans,
    ...held.filter((execution) => !left.includes(execution)).map(({ handle, key }) => `${handle}:${key}`),
  ]);
  return {
    ended: steps.size,
    left: left.map(({ id, handle, key, worker }) => ({ executionId: id, handle, key, worker })),
  };
}
