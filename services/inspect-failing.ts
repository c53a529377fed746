/** Runs that stand still because their workflow task fails each time; told only where there are any. */
import type { Store } from '../prisma/store/contract/contract.ts';
import type { Config } from './config/config.ts';
import type { DoctorEntry } from './doctor-entry.ts';
import { logFile } from './home/home-files.ts';
import { failingTasks } from './temporal/failing-task.ts';

const ANSWER_MAX_MS = 3000;
/** Of more, the newest. */
const LOOKED_AT = 200;
const namedMax = 5;

/** `workflowIdOf`: what a run is called in Temporal. */
export async function inspectFailing(
  config: Config,
  store: Pick<Store, 'runs'>,
  workflowIdOf: (handle: string) => string,
): Promise<DoctorEntry[]> {
  if (config.temporal.address === null) return [];
  const runs = await store.runs.list({ status: 'running', limit: LOOKED_AT });
  if (runs.length === 0) return [];
  const ids = runs.map(({ handle }) => workflowIdOf(handle));
  const tasks = await failingTasks(config, ids, ANSWER_MAX_MS);
  const failing = runs.flatMap(({ handle }) => {
    const task = tasks.get(workflowIdOf(handle));
    return task === undefined ? [] : [`${handle} (${task.times} times)`];
  });
  return failing.length === 0 ? [] : [entryOf(failing, logFile(config.home, 'worker'))];
}

function entryOf(failing: readonly string[], log: string): DoctorEntry {
  const more = failing.length > namedMax ? ` and ${failing.length - namedMax} more` : '';
  return {
    name: 'runs',
    ok: false,
    found: `the workflow task fails each time, so nothing goes on: ${failing.slice(0, namedMax).join(', ')}${more}`,
    where: null,
    version: null,
    remedy: `\`sentinel status HANDLE\` says what failed; update Sentinel and restart the worker (its log is ${log}), or end a run with \`sentinel cancel HANDLE --force\`.`,
  };
}
