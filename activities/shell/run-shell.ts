/**
 * One shell step, from request to result.
 *
 * Invariants: the process leads a group of its own, and no timeout or cancellation returns before
 * that group is dead; an earlier attempt's processes are dead before this one starts; memory does
 * not depend on how much is printed. A non-zero exit is a result; not being able to start is a
 * failure.
 */
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import type { Json } from '../../language/json.ts';
import type { Confinement } from '../../language/permissions.ts';
import { maskText } from '../../language/secrets.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import { resolveInside } from '../confinement/confine.ts';
import { Failure } from '../failures/failures.ts';
import { SHELL_BOUNDS } from './process/bounds.ts';
import { Capture } from './output/capture.ts';
import { checkSizes, childEnvironment } from './process/child-environment.ts';
import { confined } from './confined.ts';
import { guardMemory, memoryFailure } from './process/memory.ts';
import { endStep, groupsOfStep, stepMarker, workerMarker } from './process/orphans.ts';
import { groupsBelow } from './process/process-table.ts';
import { endGroups } from './process/processes.ts';
import { quoteCommand } from './quote-command.ts';
import { sandboxComplaint } from '../confinement/sandbox.ts';
import type { Secrets } from '../confinement/secrets.ts';
import { StepLog, type StreamName } from './output/step-log.ts';
import { StreamMask } from './output/stream-mask.ts';

export interface ShellRequest {
  /** A line for `/bin/sh -c`; with `args`, a program that no shell parses. */
  command: string;
  args?: string[];
  /** Relative to the run's project, and inside it. */
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  timeoutMs: number;
  graceMs?: number;
  /** Bytes that each captured text keeps. */
  captureBytes?: number;
  /** False leaves the step's log alone, for a step of several processes: only one may write it. */
  isLogged?: boolean;
  /** Files and folders outside the project that the process may read in a sandbox. */
  readable?: string[];
}

export interface ShellContext {
  run: RunContext;
  key: string;
  attempt: number;
  signal: AbortSignal;
  store: { logs: Pick<Store['logs'], 'append'> };
  heartbeat(details?: Json): void;
  now(): number;
  /** How the step's processes are held in; absent means not at all. */
  confinement?: Confinement;
  secrets?: Secrets;
}

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

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Ending =
  { type: 'exit'; exit: Exit } | { type: 'timeout' } | { type: 'cancelled' } | { type: 'memory'; usedMb: number };

interface Captures {
  stdout: Capture;
  stderr: Capture;
  output: Capture;
}

export async function runShell(request: ShellRequest, context: ShellContext): Promise<ShellResult> {
  context.signal.throwIfAborted();
  // From the start: ending an earlier attempt may take longer than the server waits for a sign of life.
  const beat = setInterval(() => context.heartbeat(), SHELL_BOUNDS.heartbeatMs);
  try {
    const graceMs = request.graceMs ?? SHELL_BOUNDS.graceMs;
    if (context.attempt > 1) await endStep(context.run.handle, context.key, graceMs);
    return await runOnce(request, context, graceMs);
  } finally {
    clearInterval(beat);
  }
}

async function runOnce(request: ShellRequest, context: ShellContext, graceMs: number): Promise<ShellResult> {
  const startedAt = context.now();
  const child = await startChild(request, context);
  const log = new StepLog(context.store.logs, {
    handle: context.run.handle,
    key: context.key,
    attempt: context.attempt,
  });
  const captures = openCaptures(request.captureBytes ?? SHELL_BOUNDS.captureBytes);
  const shown = {
    stdout: new StreamMask(context.secrets?.logs ?? []),
    stderr: new StreamMask(context.secrets?.logs ?? []),
  };
  child.listen((stream, chunk) => {
    captures[stream].write(chunk);
    captures.output.write(chunk);
    if (request.isLogged !== false) log.write(stream, shown[stream].write(chunk));
  });
  const ending = await waitForEnding(child, request.timeoutMs, context.signal);
  if (ending.type !== 'exit') await endChild(child.pid, context, graceMs);
  await Promise.race([child.closed, sleep(SHELL_BOUNDS.drainMs, undefined, { ref: false })]);
  child.release();
  if (request.isLogged !== false)
    for (const stream of ['stdout', 'stderr'] as const) log.write(stream, shown[stream].end());
  const durationMs = Math.max(0, context.now() - startedAt);
  const isLogged = await finishLog(log, ending, context.signal);
  if (ending.type === 'cancelled') throw context.signal.reason;
  if (ending.type === 'timeout') throw timedOut(request, context, captures);
  if (ending.type === 'memory') throw outOfMemory(request, context, captures, ending.usedMb);
  checkSandbox(ending.exit, request, context, captures);
  return toResult(ending.exit, captures, durationMs, isLogged);
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

/** A started process: its own streams and events, without what waits for the pipes to close. */
export interface Child {
  pid: number;
  exit: Promise<Exit>;
  closed: Promise<void>;
  /** Resolves with the megabytes found when the bound on memory was passed, which ends the process. */
  overMemory: Promise<number>;
  listen(onData: (stream: StreamName, chunk: Buffer) => void): void;
  release(): void;
}

export async function startChild(request: ShellRequest, context: ShellContext): Promise<Child> {
  const cwd = await findFolder(request.cwd ?? '.', context);
  const [file, args] =
    request.args === undefined ? ['/bin/sh', ['-c', request.command]] : [request.command, request.args];
  const markers = { step: stepMarker(context.run.handle, context.key), worker: await workerMarker() };
  const env = childEnvironment(process.env, request.env ?? {}, markers);
  checkSizes(request.args === undefined ? [request.command] : [request.command, ...request.args], env);
  const launch = await confined({ file, args, cwd, env }, context.run.project, context.confinement, request.readable);
  const child = spawn(launch.file, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    ...(request.stdin === undefined ? {} : { input: request.stdin }),
  });
  if (child instanceof Error || child.pid === undefined) {
    const cause = child instanceof Error ? child : (await child).cause;
    const reason = cause instanceof Error ? cause.message : 'for no stated reason';
    throw new Failure(
      'SHELL_NOT_STARTED',
      `"${quoted(request, context)}" could not be started (${reason}); check the program's name, PATH and permissions`,
      { cause },
    );
  }
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // Execa's own promise waits for the pipes, which a background child may hold open for ever.
  const closed = child.then(
    () => undefined,
    () => undefined,
  );
  const masks = (['stdout', 'stderr'] as const).map(
    (name) => [name, new StreamMask(context.secrets?.results ?? [])] as const,
  );
  const ends: (() => void)[] = [];
  const release = (): void => {
    for (const end of ends.splice(0)) end();
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const memoryMb = context.confinement?.memoryMb;
  const overMemory =
    memoryMb === undefined ? new Promise<number>(() => undefined) : guardMemory(child.pid, memoryMb, exit);
  return {
    pid: child.pid,
    exit,
    closed,
    overMemory,
    listen(onData) {
      for (const [name, mask] of masks) {
        child[name].on('data', (chunk: Buffer) => onData(name, mask.write(chunk)));
        ends.push(() => onData(name, mask.end()));
      }
      void closed.then(release);
    },
    release,
  };
}

/** What a process cannot take at all (a NUL in an argument) is thrown at once; it comes back as the error it is. */
function spawn(
  file: string,
  args: string[],
  { input, ...options }: { cwd: string; env: Record<string, string>; input?: string },
) {
  const fixed = { extendEnv: false, detached: true, cleanup: false, buffer: false, reject: false } as const;
  try {
    return input === undefined
      ? execa(file, args, { ...options, ...fixed, stdin: 'ignore' })
      : execa(file, args, { ...options, ...fixed, input });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function findFolder(path: string, context: ShellContext): Promise<string> {
  const cwd = resolveInside(context.run.project, path);
  const found = await stat(cwd).catch(() => null);
  if (found?.isDirectory() === true) return cwd;
  throw new Failure(
    'SHELL_NOT_STARTED',
    `cwd "${path}" is ${found === null ? 'missing' : 'not a folder'}; create it first or correct the path`,
  );
}

function waitForEnding({ exit, overMemory }: Child, timeoutMs: number, signal: AbortSignal): Promise<Ending> {
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
    void overMemory.then((usedMb) => finish({ type: 'memory', usedMb }));
    void exit.then((ended) => finish({ type: 'exit', exit: ended }));
  });
}

/** Ends the process's group, and what left the group but descends from it or still carries the step's marker. */
export async function endChild(
  pid: number,
  context: { run: { handle: string }; key: string },
  graceMs: number,
): Promise<void> {
  const find = async (): Promise<number[]> => [
    ...(await groupsBelow(pid)),
    ...(await groupsOfStep(context.run.handle, context.key)),
  ];
  await endGroups(find, graceMs);
}

function openCaptures(bytes: number): Captures {
  const size = Math.min(bytes, SHELL_BOUNDS.captureBytesMax);
  return { stdout: new Capture(size), stderr: new Capture(size), output: new Capture(size) };
}

function timedOut(request: ShellRequest, context: ShellContext, captures: Captures): Failure {
  const message = `"${quoted(request, context)}" ran longer than ${request.timeoutMs} ms and was ended; raise timeoutMs or make it faster`;
  return new Failure('STEP_TIMEOUT', message, { details: tailsOf(captures) });
}

function outOfMemory(request: ShellRequest, context: ShellContext, captures: Captures, usedMb: number): Failure {
  const maxMemoryMb = context.confinement?.memoryMb ?? 0;
  return memoryFailure(quoted(request, context), { usedMb, maxMemoryMb }, tailsOf(captures));
}

/** What bwrap could not do is not the program's result. */
function checkSandbox(exit: Exit, request: ShellRequest, context: ShellContext, captures: Captures): void {
  if (context.confinement?.sandboxed !== true) return;
  const complaint = sandboxComplaint(exit.code, captures.stderr.text());
  if (complaint === null) return;
  throw new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" could not be started in the sandbox (${complaint}); what it needs has to be in the project or among the system's programs`,
  );
}

/** Masked before it is cut: half of a value is found by nobody. */
const quoted = ({ command }: ShellRequest, { secrets }: ShellContext): string =>
  quoteCommand(maskText(command, secrets?.results ?? []));

function tailsOf({ stdout, stderr }: Captures): { stdout: string; stderr: string } {
  const { failureTailBytes } = SHELL_BOUNDS;
  return { stdout: stdout.end(failureTailBytes), stderr: stderr.end(failureTailBytes) };
}

export function exitCodeOf(exit: Exit): number {
  return exit.code ?? 128 + (exit.signal === null ? 0 : constants.signals[exit.signal]);
}

function toResult(exit: Exit, captures: Captures, durationMs: number, isLogged: boolean): ShellResult {
  const exitCode = exitCodeOf(exit);
  const truncated = captures.stdout.isTruncated || captures.stderr.isTruncated || captures.output.isTruncated;
  return {
    exitCode,
    exit_code: exitCode,
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    stdout: captures.stdout.text(),
    stderr: captures.stderr.text(),
    output: captures.output.text(),
    durationMs,
    success: exitCode === 0,
    ...(truncated ? { truncated } : {}),
    ...(isLogged ? {} : { logIncomplete: true }),
  };
}
