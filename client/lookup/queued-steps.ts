/** Steps of a run that wait for a place on a queue of their own. */
import type { Config } from '../../services/config/config.ts';
import { queuedSteps } from '../../services/temporal/queued-steps.ts';
import type { QueuedStep } from './run-report.ts';
import { workflowIdOf } from '../../workflows/messages/messages.ts';

/** A look at Temporal, where it answers at once. */
const LOOK_MS = 2_000;

/** Empty where Temporal does not answer: what the store says is shown all the same. */
export async function queuedStepsOf(config: Config, handle: string): Promise<QueuedStep[]> {
  if (config.temporal.address === null) return [];
  return queuedSteps(config, workflowIdOf(handle), LOOK_MS).catch(() => []);
}
