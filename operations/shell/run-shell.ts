/**
 * One shell step, from request to result.
 *
 * Invariants: the process leads a group of its own, and no timeout or cancellation returns before
 * that group is dead; an earlier attempt's processes are dead before this one starts; memory does
 * not depend on how much is printed. A non-zero exit is a result; not being able to start is a
 * failure.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sandboxComplaint } from '../../world/confinement/sandbox.ts';
import { noSecrets } from '../secrets/secrets.ts';
import { inlineBytesMax, valueBytesMax } from '../../language/limits.ts';
import { Failure } from '../../world/failures/failures.ts';
import {
  type Child,
  endChild,
  endLeftovers,
  exitCodeOf,
  quoted,
  type ShellContext,
  type ShellRequest,
  startChild,
} from './child.ts';
import { type Breach, breachFailure } from './breach.ts';
import { Capture } from './output/capture.ts';
import { StepLog } from './output/step-log.ts';
import { StreamMask } from './output/stream-mask.ts';
import { beating } from '../../world/processes/beating.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { endStep } from '../../world/processes/orphans.ts';
import { processIdsNow } from '../../world/processes/step-mark.ts';
import type { Exit } from '../../world/processes/step-init.ts';
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

type Ending = { type: 'exit'; exit: Exit } | { type: 'timeout' } | { type: 'cancelled' } | Breach;

const leftoversEnded =
  'sentinel: the step ended and what it had left running was ended with it; start that with "wait": false\n';

interface Captures {
  stdout: Capture;
  stderr: Capture;
  output: Capture;
}

export async function runShell(request: ShellRequest, context: ShellContext): Promise<ShellResult> {
  context.signal.throwIfAborted();
  // From the start: ending an earlier attempt may take longer than the server waits for a sign of life.
  return beating(context, async () => {
    const graceMs = request.graceMs ?? SHELL_BOUNDS.graceMs;
    if (context.attempt > 1) await endStep(context.run.handle, context.key, graceMs);
    return runOnce(request, context, graceMs);
  });
}

async function runOnce(request: ShellRequest, context: ShellContext, graceMs: number): Promise<ShellResult> {
  const startedAt = context.now();
  const [idsBefore, beganAt] = [processIdsNow(), performance.now()];
  const child = await startChild(request, context);
  const log = new StepLog(context.store.logs, {
    handle: context.run.handle,
    key: context.key,
    attempt: context.attempt,
  });
  const captures = openCaptures(request.captureBytes ?? SHELL_BOUNDS.captureBytes);
  const { logs } = context.secrets ?? noSecrets();
  const shown = { stdout: new StreamMask(logs), stderr: new StreamMask(logs) };
  child.listen((stream, chunk) => {
    captures[stream].write(chunk);
    captures.output.write(chunk);
    if (request.isLogged !== false) log.write(stream, shown[stream].write(chunk));
  });
  const ending = await waitForEnding(child, request.timeoutMs, context.signal);
  const waiting = ending.type === 'timeout' ? await waitingProgram(child.leader) : null;
  if (ending.type !== 'exit') await endChild(child.leader, context, graceMs);
  await Promise.race([child.closed, sleep(SHELL_BOUNDS.drainMs, undefined, { ref: false })]);
  child.release();
  if (
    ending.type === 'exit' &&
    (await endLeftovers(child, context, { idsBefore, beganAt, graceMs })) &&
    request.isLogged !== false
  )
    log.write('stderr', Buffer.from(leftoversEnded));
  if (request.isLogged !== false)
    for (const stream of ['stdout', 'stderr'] as const) log.write(stream, shown[stream].end());
  const durationMs = Math.max(0, context.now() - startedAt);
  const isLogged = await finishLog(log, ending, context.signal);
  if (ending.type === 'cancelled') throw context.signal.reason;
  if (ending.type === 'timeout') throw timedOut(request, context, captures, waiting);
  if (ending.type !== 'exit')
    throw breachFailure(ending, quoted(request, context), context.confinement, tailsOf(captures));
  const { exit } = ending;
  const breach = await child.lateBreach();
  if (breach !== null) throw breachFailure(breach, quoted(request, context), context.confinement, tailsOf(captures));
  checkSandbox(exit, request, context, captures);
  return toResult(exit, captures, durationMs, isLogged);
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

function waitForEnding({ exit, breach }: Child, timeoutMs: number, signal: AbortSignal): Promise<Ending> {
  return new Promise((resolve) => {
    const finish = (ending: Ending): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      resolve(ending);
    };
    const cancel = (): void => finish({ type: 'cancelled' });
    const timer = setTimeout(() => finish({ type: 'timeout' }), Math.min(timeoutMs, SHELL_BOUNDS.timeoutMsMax));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    void breach.then(finish);
    void exit.then((ended) => finish({ type: 'exit', exit: ended }));
  });
}

function openCaptures(bytes: number): Captures {
  const size = Math.min(bytes, SHELL_BOUNDS.captureBytesMax);
  return { stdout: new Capture(size), stderr: new Capture(size), output: new Capture(size) };
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
