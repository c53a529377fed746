/**
 * One shell step, from request to result.
 *
 * Invariants: the process leads a group of its own, and no timeout or cancellation returns before
 * that group is dead; an earlier attempt's processes are dead before this one starts; memory does
 * not depend on how much is printed. A non-zero exit is a result; not being able to start is a
 * failure.
 */
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { beating } from '../../world/processes/beating.ts';
import { endStep } from '../../world/processes/orphans.ts';
import { findInit } from '../../world/processes/step-init.ts';
import { processIdsNow } from '../../world/processes/step-mark.ts';
import type { Keeping, ShellContext, ShellRequest } from './request.ts';
import { startChild } from './child.ts';
import { StepLog } from './output/step-log.ts';
import { labelOf, runKept } from './run-kept.ts';
import { type ShellResult, toEnd } from './to-end.ts';
import { withValueFiles } from './value-files.ts';

export type { ShellResult } from './to-end.ts';

export async function runShell(request: ShellRequest, context: ShellContext): Promise<ShellResult> {
  context.signal.throwIfAborted();
  // From the start: ending an earlier attempt may take longer than the server waits for a sign of life.
  return beating(context, async () => {
    const graceMs = request.graceMs ?? SHELL_BOUNDS.graceMs;
    const keeping = await keepingOf(request, context);
    if (keeping !== null) return runKept(request, context, { keeping, graceMs });
    if (context.attempt > 1) await endStep(context.run.handle, context.key, graceMs);
    return runOnce(request, context, graceMs);
  });
}

/**
 * What holds the processes of a step together keeps them, too. No sandbox sees the folder in which one is kept, so a
 * process in one that reads its values from files ends with its worker.
 */
async function keepingOf(
  { isKept, files }: ShellRequest,
  { run, key, keeping, confinement }: ShellContext,
): Promise<Keeping | null> {
  if (isKept !== true || keeping === undefined) return null;
  if (await canBeKept({ files, confinement })) return keeping;
  // One that is kept is gone on with, whether or not this worker could start one.
  return keeping.processes.find(run.handle, key) === null ? null : keeping;
}

/** Whether a process that is started here can outlive its worker. */
export async function canBeKept({
  files,
  confinement,
}: {
  files?: ShellRequest['files'] | undefined;
  confinement?: ShellContext['confinement'] | undefined;
}): Promise<boolean> {
  if (files !== undefined && confinement?.mode === 'sandboxed') return false;
  return (await findInit()) !== null;
}

async function runOnce(request: ShellRequest, context: ShellContext, graceMs: number): Promise<ShellResult> {
  return withValueFiles(request.files, async (values, folder) => {
    const startedAt = context.now();
    const [idsBefore, beganAt] = [processIdsNow(), performance.now()];
    const readable = folder === undefined ? [] : [folder];
    const sandbox = { ...request.sandbox, readable: [...(request.sandbox?.readable ?? []), ...readable] };
    const child = await startChild({ ...request, env: { ...request.env, ...values }, sandbox }, context);
    const log = new StepLog(context.store.logs, labelOf(context));
    const tookMs = (): number => Math.max(0, context.now() - startedAt);
    const leftMs = request.timeoutMs;
    return toEnd(request, context, {
      child,
      log,
      graceMs,
      leftMs,
      tookMs,
      hold: null,
      idsBefore,
      beganAt,
      begun: null,
    });
  });
}
