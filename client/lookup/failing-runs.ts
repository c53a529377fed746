/** Runs that stand still because their workflow task fails each time: what is said of them, and what to do. */
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Run } from '../../prisma/store/contract/contract.ts';
import { viewerOf } from '../../runs/temporal-connection.ts';
import type { Config } from '../../services/config/config.ts';
import { failingTasks, type FailingTask } from '../../services/temporal/failing-task.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';
import type { FailingRun } from './run-report.ts';

/** A look at Temporal, where it answers at once. */
const LOOK_MS = 2_000;
const findingMax = 500;

interface Asked {
  config: Config;
  /** Opens what Temporal holds. */
  client: () => Promise<Client>;
}

/** Of those that are under way. Empty where Temporal does not answer: what the store says is shown all the same. */
export async function failingRuns(
  { config, client }: Asked,
  runs: readonly Pick<Run, 'handle' | 'status'>[],
): Promise<Map<string, FailingRun>> {
  const waiting = runs.filter(({ status }) => status === 'running').map(({ handle }) => handle);
  if (waiting.length === 0 || config.temporal.address === null) return new Map();
  const ids = waiting.map((handle) => workflowIdOf(handle));
  const tasks = await failingTasks(config, ids, LOOK_MS).catch(() => new Map<string, FailingTask>());
  const described = waiting.flatMap((handle) => {
    const task = tasks.get(workflowIdOf(handle));
    return task === undefined ? [] : [describe(client, handle, task).then((found) => [handle, found] as const)];
  });
  return new Map(await Promise.all(described));
}

async function describe(client: Asked['client'], handle: string, { times, failure }: FailingTask): Promise<FailingRun> {
  return {
    times,
    finding: (await messageOf(client, failure).catch(() => 'what it failed with cannot be opened here')).slice(
      0,
      findingMax,
    ),
    remedy: `It goes on once a worker with a mended program takes it: update Sentinel, restart the worker ("sentinel down", "sentinel up"), and see its log. "sentinel cancel ${handle} --force" ends the run.`,
  };
}

async function messageOf(client: Asked['client'], failure: FailingTask['failure']): Promise<string> {
  const sealed = failure?.encodedAttributes;
  if (!sealed) return failure?.message ?? 'no message';
  const [opened] = await viewerOf(await client()).decode([sealed]);
  const said: unknown = opened === undefined ? null : defaultPayloadConverter.fromPayload(opened);
  const isSaid = typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string';
  return isSaid ? String(said.message) : (failure?.message ?? 'no message');
}
