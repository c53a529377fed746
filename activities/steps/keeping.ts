/** What an activity knows of processes that outlive its worker. */
import { CancelledFailure } from '@temporalio/activity';
import type { JsonObject } from '../../language/json.ts';
import type { Command, CommandContext } from '../../operations/command.ts';
import type { Keeping } from '../../operations/shell/request.ts';
import type { KeptProcesses } from '../../world/processes/kept/kept-processes.ts';

/** Of what aborts an activity, only that somebody ends it, or its worker: else another attempt has it, or will. */
const isEnd = ({ reason }: AbortSignal): boolean =>
  reason instanceof CancelledFailure && (reason.message === 'CANCELLED' || reason.message === 'WORKER_SHUTDOWN');

/** `signal`: of the activity. What ends a process while it goes on is the step's own: its time, or the command that began the process. */
export const keepingIn = (processes: KeptProcesses | undefined, signal: AbortSignal): { keeping?: Keeping } =>
  processes === undefined ? {} : { keeping: { processes, ends: () => !signal.aborted || isEnd(signal) } };

/** A call of a model is not made again before somebody has decided it. */
export const keepingOfCall = (keeping: Keeping | undefined): { keeping?: Keeping } =>
  keeping === undefined ? {} : { keeping: { ...keeping, onUnknown: 'tell' } };

/** Whether an earlier attempt has left a process, running or ended, with which the command goes on. */
export function isProcessLeft(
  command: Command | undefined,
  params: JsonObject,
  { keeping, run, key }: CommandContext,
): boolean {
  if (keeping === undefined || command?.keepsProcess?.(params) !== true) return false;
  return keeping.processes.hasAny(run.handle, key);
}
