/** From a process that is under way to the result of its step. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inlineBytesMax, valueBytesMax } from '../../language/limits.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { sandboxComplaint } from '../../world/confinement/sandbox.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import type { Hold } from '../../world/processes/kept/kept-processes.ts';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import type { Exit } from '../../world/processes/step-init.ts';
import { breachFailure } from './breach.ts';
import { type Child, endChild, endLeftovers, exitCodeOf } from './child.ts';
import { quoted, type ShellContext, type ShellRequest } from './request.ts';
import { type Ending, endingOf, reasonOf } from './ending.ts';
import { type Begun, type Captures, hear, openCaptures } from './hear.ts';
import { Capture } from './output/capture.ts';
import type { StepLog } from './output/step-log.ts';
import { waitingProgram, type WaitingProgram } from './waiting-program.ts';

export type ShellResult = {
  /** 128 + the signal's number when a signal ended the process, as shells have it. */
  exitCode: number;
  exit_code: number;
  signal?: string;
  stdout: string;
  stderr: string;
  /** Both streams in order of arrival. */
  output: string;
  durationMs: number;
  success: boolean;
  truncated?: boolean;
  /** The store did not take the log in time; the result is whole all the same. */
  logIncomplete?: boolean;
};

const leftoversEnded =
  'sentinel: the step ended and what it had left running was ended with it; start that with "wait": false\n';

export interface Watched {
  child: Child & { lost?: Promise<void> };
  log: StepLog;
  graceMs: number;
  /** Of the step's time, what is left of it. */
  leftMs: number;
  /** How long it took, now that it has ended. */
  tookMs(): number;
  /** Null: it ends with its worker. */
  hold: Hold | null;
  idsBefore: ReadonlySet<string> | null;
  beganAt: number;
  begun: Begun | null;
}

export async function toEnd(request: ShellRequest, context: ShellContext, watched: Watched): Promise<ShellResult> {
  const { child, log, graceMs, hold, idsBefore, beganAt } = watched;
  const captures = openCaptures(request.captureBytes ?? SHELL_BOUNDS.captureBytes);
  const heard = hear(request, context, { ...watched, captures });
  const ending = await endingOf(watched, context);
  const waiting = ending.type === 'timeout' ? await waitingProgram(child.leader) : null;
  if (ending.type === 'left' || ending.type === 'lost') {
    child.release();
    // What waits for more is read again by whoever goes on with it.
    await log.leave(SHELL_BOUNDS.logGiveUpCancelledMs);
    throw ending.type === 'left' ? ending.reason : new LeftBehind('its process is gone, and nobody knows how it ended');
  }
  const at = { handle: context.run.handle, key: context.key };
  if (hold !== null) crashPoint('process.ended', at);
  if (ending.type !== 'exit') {
    hold?.folder.because(reasonOf(ending));
    await endChild(child.leader, context, graceMs);
  }
  await Promise.race([child.closed, sleep(SHELL_BOUNDS.drainMs, undefined, { ref: false })]);
  const hadLeftovers = ending.type === 'exit' && (await endLeftovers(child, context, { idsBefore, beganAt, graceMs }));
  child.release();
  heard.end();
  if (hadLeftovers && request.isLogged !== false) log.write('stderr', Buffer.from(leftoversEnded));
  const tookMs = watched.tookMs();
  const isLogged = await finishLog(log, ending, context.signal);
  if (hold !== null) crashPoint('process.logged', at);
  if (hold?.isOurs() === false) throw new LeftBehind('a later attempt watches over the process');
  if (ending.type === 'cancelled') throw context.signal.reason;
  if (ending.type === 'timeout') throw timedOut(request, context, captures, waiting);
  if (ending.type !== 'exit')
    throw breachFailure(ending, quoted(request, context), context.confinement, tailsOf(captures));
  const { exit } = ending;
  const breach = await child.lateBreach();
  if (breach !== null) throw breachFailure(breach, quoted(request, context), context.confinement, tailsOf(captures));
  checkSandbox(exit, request, context, captures);
  return toResult(exit, captures, tookMs, isLogged);
}

/** A step that is cancelled, now or while its log waits for the store, does not wait for long. */
async function finishLog(log: StepLog, ending: Ending, signal: AbortSignal): Promise<boolean> {
  if (ending.type !== 'exit' || signal.aborted) return log.finish(SHELL_BOUNDS.logGiveUpCancelledMs);
  const giveUp = (): void => log.giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await log.finish(SHELL_BOUNDS.logGiveUpMs);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function timedOut(
  request: ShellRequest,
  context: ShellContext,
  captures: Captures,
  waiting: WaitingProgram | null,
): Failure {
  const message = `"${quoted(request, context)}" ran longer than ${request.timeoutMs} ms and was ended; ${remedyOf(request, context, waiting)}`;
  return new Failure('STEP_TIMEOUT', message, { details: tailsOf(captures) });
}

function remedyOf(request: ShellRequest, context: ShellContext, waiting: WaitingProgram | null): string {
  const remedy = 'raise timeoutMs or make it faster';
  if (waiting === null) return remedy;
  const line = quoted({ ...request, command: waiting.line }, context);
  if (waiting.asks)
    return `"${line}" waited for somebody, and nobody is there at a step: give it what it asks for (an option, a file, "env")`;
  return line === quoted(request, context) ? remedy : `it was at "${line}"; ${remedy}`;
}

/** What bwrap could not do is not the program's result. */
function checkSandbox(exit: Exit, request: ShellRequest, context: ShellContext, captures: Captures): void {
  if (context.confinement?.mode !== 'sandboxed') return;
  const complaint = sandboxComplaint(exit.code, captures.stderr.text());
  if (complaint === null) return;
  throw new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" could not be started in the sandbox (${complaint}); what it needs has to be in the project or among the system's programs`,
  );
}

function tailsOf({ stdout, stderr }: Captures): { stdout: string; stderr: string } {
  const { failureTailBytes } = SHELL_BOUNDS;
  return { stdout: stdout.end(failureTailBytes), stderr: stderr.end(failureTailBytes) };
}

function toResult(exit: Exit, captures: Captures, durationMs: number, isLogged: boolean): ShellResult {
  const exitCode = exitCodeOf(exit);
  const texts = textsOf(captures);
  return {
    exitCode,
    exit_code: exitCode,
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    ...texts,
    durationMs,
    success: exitCode === 0,
    ...(isLogged ? {} : { logIncomplete: true }),
  };
}

/** Characters that JSON escapes (colours, binary data) take six bytes in place of one: then less is kept than was captured. */
function textsOf(captures: Captures): Pick<ShellResult, 'stdout' | 'stderr' | 'output' | 'truncated'> {
  const [stdout, stderr, output] = [captures.stdout.text(), captures.stderr.text(), captures.output.text()];
  const truncated = captures.stdout.isTruncated || captures.stderr.isTruncated || captures.output.isTruncated;
  const texts = { stdout, stderr, output, ...(truncated ? { truncated } : {}) };
  if (output.length * 12 <= valueBytesMax || Buffer.byteLength(JSON.stringify(texts)) <= valueBytesMax - KEPT_BESIDE)
    return texts;
  return { stdout: shortOf(stdout), stderr: shortOf(stderr), output: shortOf(output), truncated: true };
}

/** What a result holds beside its texts. */
const KEPT_BESIDE = 1024;

function shortOf(text: string): string {
  const capture = new Capture(inlineBytesMax);
  capture.write(Buffer.from(text));
  return capture.text();
}
