/** Whether workers serve the runs: by its process, by what is said of its event loop, and by who polls the queue. */
import { connectionOptions, type Config } from './config/config.ts';
import type { ProcessIdentity, ProjectWorkerState, ServicesState } from './config/services-state.ts';
import type { DoctorEntry } from './doctor-entry.ts';
import { logFile } from './home/home-files.ts';
import { isHalted, seemsAlive } from './processes/process-identity.ts';
import { pollersOf } from './temporal/queue-pollers.ts';
import { logNameOf } from './supervisor/worker-process.ts';
import { atText, loopStanding, type LoopLine } from './supervisor/worker-loop.ts';

const ANSWER_MAX_MS = 3000;
/** How far back a worker that was ended is told of. */
const LOOKED_BACK_MS = 3_600_000;
const FAILURE_CHARS_MAX = 500;

export async function inspectWorker(config: Config, state: ServicesState | null): Promise<DoctorEntry> {
  const own = state?.worker?.process ?? null;
  const isAlive = own !== null && seemsAlive(own);
  const [queue] = config.taskQueues;
  const pollers = await countPollers(config, queue);
  const log = logFile(config.home, 'worker');
  const { silent, ended } = loopStanding(log, own?.pid ?? 0, Date.now() - LOOKED_BACK_MS);
  const wrong = isAlive ? wrongWith(own, silent) : null;
  const ok = isAlive ? wrong === null : (pollers ?? 0) > 0;
  const here = isAlive ? `pid ${own.pid}, ${wrong?.found ?? own.status}` : 'none on this machine';
  const polled = pollers === null ? 'pollers unknown' : `${pollers} polled ${queue} lately`;
  const entry = {
    name: 'worker',
    ok,
    found: [here, polled, ...(ended.length === 0 ? [] : [endedText(ended)])].join('; '),
    where: isAlive ? (state?.worker?.taskQueues.join(', ') ?? null) : null,
    version: null,
  };
  if (wrong !== null) return { ...entry, remedy: `${wrong.remedy} Its log is ${log}.` };
  return ok ? entry : { ...entry, remedy: `Run \`sentinel up\` or \`sentinel worker\`; its log is ${log}.` };
}

/** One for each project that has a worker of its own, or wants one and gets none. */
export function inspectProjectWorkers({ home }: Config, state: ServicesState | null): DoctorEntry[] {
  if (state?.phase !== 'ready') return [];
  return state.workers.map((worker) => projectEntry(home, worker));
}

function projectEntry(
  home: string,
  { key, project, taskQueue, process, progress, failure }: ProjectWorkerState,
): DoctorEntry {
  const log = logFile(home, logNameOf(key));
  const { silent, ended } = loopStanding(log, process?.pid ?? 0, Date.now() - LOOKED_BACK_MS);
  const isAlive = process !== null && seemsAlive(process);
  const wrong = isAlive ? wrongWith(process, silent) : null;
  const here = isAlive ? `pid ${process.pid}, ${wrong?.found ?? process.status}` : (progress ?? 'none');
  const entry = {
    name: 'project worker',
    project,
    // One that comes, or that nobody needs by now, is no fault.
    ok: failure === null && wrong === null,
    found: [
      `of ${project}: ${failure === null ? here : inOneLine(failure.message)}`,
      ...(ended.length === 0 ? [] : [endedText(ended)]),
    ].join('; '),
    where: taskQueue,
    version: null,
  };
  if (wrong !== null) return { ...entry, remedy: `${wrong.remedy} Its log is ${log}.` };
  if (failure === null) return entry;
  return {
    ...entry,
    remedy: `Correct that, and it is tried again soon; or run "sentinel up" in ${project}. Its log is ${log}.`,
  };
}

/** The message may end with lines of a log. */
const inOneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').slice(0, FAILURE_CHARS_MAX);

/** A process that is there serves nobody where it does not come to it. */
function wrongWith(worker: ProcessIdentity, silent: LoopLine | null): { found: string; remedy: string } | null {
  if (isHalted(worker)) return { found: 'stopped by a signal', remedy: `Let it go on: \`kill -CONT ${worker.pid}\`.` };
  if (silent === null) return null;
  const seconds = Math.round(silent.seconds + (Date.now() - silent.at) / 1000);
  return {
    found: `its event loop has not answered for ${seconds} s${silent.steps.length === 0 ? '' : `,${atText(silent)}`}`,
    remedy:
      'It ends once that has lasted for SENTINEL_SILENT_SECONDS (30), and another begins; a step that three workers were lost with fails.',
  };
}

function endedText(ended: readonly LoopLine[]): string {
  const times = ended.length === 1 ? 'once' : `${ended.length} times`;
  const last = ended.slice(-1).map((line) => `, the last time${atText(line)}`);
  return `ended ${times} in the last hour because its event loop did not answer${last.join('')}`;
}

/** Workers of any machine that asked this queue for workflow tasks lately; null when nobody tells. */
async function countPollers(config: Config, queue: string): Promise<number | null> {
  if (config.temporal.address === null) return null;
  const { withTemporal } = await import('./temporal/temporal-probe.ts');
  try {
    return await withTemporal(connectionOptions(config), ANSWER_MAX_MS, (connection) =>
      pollersOf(connection, config.temporal.namespace, queue),
    );
  } catch {
    return null;
  }
}
