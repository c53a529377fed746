/**
 * The trainer as a process of a step, which outlives its worker:
 *
 * - T1 A worker that is lost leaves it running, and the next attempt goes on with it.
 * - T2 A trainer that was killed is begun again and goes on from its newest checkpoint, as long as each life gets further.
 * - T3 Whoever begins one in a folder takes the folder over (trainer/sentinel_trainer/lease.py): one that was followed, and
 *      wakes up later, writes nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import type { Context } from '../../operations/command.ts';
import { runShell, type ShellResult } from '../../operations/shell/run-shell.ts';
import type { Trainer } from '../../operations/training.ts';
import { Failure } from '../../world/failures/failures.ts';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { failureOf, notInstalled, taken } from './failures.ts';
import { LineReader } from './lines.ts';

/** Lives of a trainer in a row that came no further. */
const LIVES_MAX = 3;
/** Where a host was lost, it may have begun before it could say so. */
const TAKEN_OVER = 'LEASE_LOST';

export interface Asked {
  args: readonly string[];
  /** The folder of a training; absent: it writes nothing that another would. */
  folder?: string;
  hear?: (line: JsonObject) => void;
}

export function trainerOf({ worker }: Context): Trainer {
  const found = worker.training.trainer();
  if (found === null) throw notInstalled();
  return found;
}

/** Resolves with the last line that it says; fails with what it failed with. */
export async function runTrainer({ args, folder, hear }: Asked, context: Context): Promise<JsonObject> {
  let [furthest, lives] = [-1, 0];
  for (;;) {
    const launch = folder === undefined ? null : launched(folder, context);
    const lines = new LineReader((line) => {
      if (line['event'] === 'checkpoint' && typeof line['step'] === 'number' && line['step'] > furthest)
        [furthest, lives] = [line['step'], 0];
      hear?.(line);
    });
    const attempt = launch === null ? [] : ['--attempt', String(launch.attempt)];
    const ended = await started([...args, ...attempt], lines, context);
    const last = lines.last;
    if (ended.success && last !== null) return last;
    context.signal.throwIfAborted();
    const failed = last?.['event'] === 'failed' ? last : null;
    if (failed !== null && failed['code'] !== TAKEN_OVER) throw failureOf(failed);
    if (failed !== null && !isLaunchedBy(folder, context)) throw taken(failed);
    lives += 1;
    if (lives >= LIVES_MAX) throw neverFurther(ended, furthest);
    if (folder !== undefined) place(folder, context);
  }
}

function started(args: readonly string[], lines: LineReader, context: Context): Promise<ShellResult> {
  const { python, env } = trainerOf(context);
  const { confinement: _ours, ...free } = context;
  return runShell(
    {
      command: python,
      // Nothing is imported from the folder that it starts in.
      args: ['-P', '-m', 'sentinel_trainer', ...args],
      env,
      timeoutMs: context.timeoutMs,
      isKept: true,
      hears: (piece) => lines.write(piece),
    },
    free,
  );
}

interface Launch {
  by: string;
  attempt: number;
}

const idOf = ({ run, key }: Context): string => `${run.handle} ${key}`;
const launchFile = (folder: string): string => join(folder, 'launch.json');

/** As this step has begun it before, so that a process which runs is the same; else as a later attempt than all before. */
function launched(folder: string, context: Context): Launch {
  const before = launchIn(folder);
  return before?.by === idOf(context) ? before : place(folder, context);
}

function place(folder: string, context: Context): Launch {
  const last = numberIn(join(folder, 'attempt.json'));
  const launch = { by: idOf(context), attempt: Math.max(last, launchIn(folder)?.attempt ?? 0) + 1 };
  writeAtomically(launchFile(folder), JSON.stringify(launch));
  return launch;
}

const isLaunchedBy = (folder: string | undefined, context: Context): boolean =>
  folder === undefined || launchIn(folder)?.by === idOf(context);

function launchIn(folder: string): Launch | null {
  const found = objectIn(launchFile(folder));
  const { by, attempt } = found ?? {};
  return typeof by === 'string' && typeof attempt === 'number' ? { by, attempt } : null;
}

function numberIn(file: string): number {
  const attempt = objectIn(file)?.['attempt'];
  return typeof attempt === 'number' ? attempt : 0;
}

function objectIn(file: string): JsonObject | null {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Json;
    return isJsonObject(found) ? found : null;
  } catch {
    return null;
  }
}

function neverFurther({ exitCode, signal, stderr }: ShellResult, furthest: number): Failure {
  const how = signal === undefined ? `ended with ${exitCode}` : `was ended by ${signal}`;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, SHELL_BOUNDS.failureTailBytes) ?? '';
  return new Failure(
    'TRAINER_FAILED',
    `the trainer ${how} ${LIVES_MAX} times in a row ${furthest < 0 ? 'before its first checkpoint' : `after step ${furthest}`}${said === '' ? '' : ` (${said})`}; where nobody kills it, it may want more memory than there is: a smaller "batch" or "maxTokens" needs less`,
    { retryable: true },
  );
}
