/** A shell step whose process outlives its worker: begun, or gone on with. */
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { beating } from '../../world/processes/beating.ts';
import { type KeptStart, uptime } from '../../world/processes/kept/kept-folder.ts';
import { type KeptState, stateOf } from '../../world/processes/kept/kept-process.ts';
import type { Starter } from '../../world/processes/kept/starter.ts';
import type { Hold } from '../../world/processes/kept/kept-processes.ts';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import { endStep, groupsOfStep } from '../../world/processes/orphans.ts';
import { processIdsNow } from '../../world/processes/step-mark.ts';
import { type Keeping, quoted, type ShellContext, type ShellRequest } from './request.ts';
import { digestOfRequest, type KeptChild, startKept, startOf, takeOver } from './kept-child.ts';
import { begunLog } from './output/log-begun.ts';
import { type LogLabel, StepLog } from './output/step-log.ts';
import { type ShellResult, toEnd } from './to-end.ts';

const takenOver = 'sentinel: the worker of this step was lost or replaced; another one goes on with the same process\n';
const runAgain =
  'sentinel: an earlier attempt had begun this, and nobody knows what came of it; it is run again ("onUnknown" decides)\n';

export const labelOf = ({ run, key, attempt }: ShellContext): LogLabel => ({ handle: run.handle, key, attempt });

interface Kept {
  keeping: Keeping;
  graceMs: number;
}

export async function runKept(request: ShellRequest, context: ShellContext, kept: Kept): Promise<ShellResult> {
  const { run, key, attempt } = context;
  const { processes } = kept.keeping;
  const folder = processes.find(run.handle, key);
  const isStarting = async (): Promise<boolean> => (await groupsOfStep(run.handle, key)).length > 0;
  const found: KeptState = folder === null || attempt === 1 ? { state: 'none' } : await stateOf(folder, isStarting);
  context.checkAttempt?.();
  const isSame = 'start' in found && found.start.digest === digestOfRequest(request);
  if (isSame && found.folder.reason !== 'cancelled') return goOn(request, context, { ...kept, found });
  const isGone = folder === null && attempt > 1 && !processes.isUnmade(run.handle, key);
  const isUnknown = found.state === 'unknown' || isGone;
  if (isUnknown && (request.onUnknown ?? kept.keeping.onUnknown) === 'tell') throw outcomeUnknown(request, context);
  if (folder !== null || attempt > 1) {
    folder?.because('cancelled');
    await beating(context, () => endStep(run.handle, key, kept.graceMs));
    folder?.remove();
  }
  return begin(request, context, { ...kept, note: found.state === 'unknown' ? runAgain : null });
}

async function begin(
  request: ShellRequest,
  context: ShellContext,
  { keeping, graceMs, note }: Kept & { note: string | null },
): Promise<ShellResult> {
  const startedAt = context.now();
  const [idsBefore, beganAt] = [processIdsNow(), performance.now()];
  return whileHeld(madeHold(request, context, keeping), context, async (hold) => {
    const child = await startIn(hold, request, context, { graceMs, starter: keeping.processes.starter }).catch(
      (error: unknown) => {
        if (hold.isOurs()) hold.folder.remove();
        // Of a file, or of `mkfifo`.
        const isOfFolder = error instanceof Error && ('syscall' in error || 'status' in error);
        throw isOfFolder ? notKept(error, request, context, keeping) : error;
      },
    );
    const log = new StepLog(context.store.logs, labelOf(context), { fence: context.attempt });
    if (note !== null) log.write('stderr', Buffer.from(note));
    const tookMs = (): number => Math.max(0, context.now() - startedAt);
    const leftMs = request.timeoutMs;
    const watched = { child, log, graceMs, leftMs, tookMs, hold, idsBefore, beganAt, begun: null };
    return toEnd(request, context, watched);
  });
}

async function startIn(
  hold: Hold,
  request: ShellRequest,
  context: ShellContext,
  how: { graceMs: number; starter: Starter },
): Promise<KeptChild> {
  const values = Object.entries(request.files ?? {}).map(
    ([name, value]) => [`${name}_FILE`, hold.folder.writeValue(name, value)] as const,
  );
  const ready = { ...request, env: { ...request.env, ...Object.fromEntries(values) } };
  return startKept(ready, context, { hold, ...how });
}

async function whileHeld<Result>(
  hold: Hold,
  { run, key }: ShellContext,
  work: (hold: Hold) => Promise<Result>,
): Promise<Result> {
  let end: 'ended' | 'left' = 'ended';
  try {
    return await work(hold);
  } catch (error) {
    if (error instanceof LeftBehind) {
      end = 'left';
      crashPoint('process.left', { handle: run.handle, key });
    }
    throw error;
  } finally {
    hold.close(end);
  }
}

function madeHold(request: ShellRequest, context: ShellContext, keeping: Keeping): Hold {
  try {
    return keeping.processes.make(startOf(request, context));
  } catch (error) {
    if (isThere(error)) throw new LeftBehind('another attempt has begun it meanwhile');
    throw notKept(error, request, context, keeping);
  }
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST');

function notKept(error: unknown, request: ShellRequest, context: ShellContext, { processes }: Keeping): Failure {
  const finding = error instanceof Error ? error.message : String(error);
  return new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" was not started, because what it prints cannot be kept in ${processes.root} (${finding}); make room there, or make it writable`,
    { cause: error },
  );
}

/** With the process of an attempt whose worker is no more, or has let go of it. */
async function goOn(
  request: ShellRequest,
  context: ShellContext,
  { keeping, graceMs, found }: Kept & { found: Extract<KeptState, { start: KeptStart }> },
): Promise<ShellResult> {
  const { run, key, attempt, store } = context;
  const { folder, start } = found;
  const taken = await keeping.processes.takeOver(run.handle, key, { folder, attempt });
  return whileHeld(taken, context, async (hold) => {
    if (found.state === 'running') crashPoint('process.taken-over', { handle: run.handle, key });
    else crashPoint('process.found-ended', { handle: run.handle, key });
    // From here on what an earlier attempt may still write is no part of the log.
    if (context.isHandedOver !== true) {
      const said = new StepLog(store.logs, labelOf(context));
      said.write('stderr', Buffer.from(takenOver));
      await said.finish(SHELL_BOUNDS.logGiveUpMs);
    }
    const label = { handle: run.handle, key, attempt: start.attempt };
    const begun = begunLog(await store.logs.begun(label));
    const child = takeOver(found, context);
    const elapsedMs = (until: number): number => Math.max(0, Math.round((until - start.beganAt) * 1000));
    return toEnd(request, context, {
      child,
      log: new StepLog(store.logs, label, { fence: attempt, begun }),
      graceMs,
      leftMs: Math.max(0, request.timeoutMs - elapsedMs(uptime())),
      tookMs: () => elapsedMs(folder.outcome?.endedAt ?? uptime()),
      hold,
      idsBefore: null,
      beganAt: performance.now() - elapsedMs(uptime()),
      begun: { streams: child.streams, log: begun, readBytes: folder.readBytes },
    });
  });
}

const outcomeUnknown = (request: ShellRequest, context: ShellContext): Failure =>
  new Failure(
    'SHELL_OUTCOME_UNKNOWN',
    `"${quoted(request, context)}" had begun, and nobody knows what came of it: its host or its worker was lost`,
  );
