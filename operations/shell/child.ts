/**
 * One process of a step, from what the step asks for to its exit: in the folder it names, with the
 * environment it may have, held in as its run's mode says. It leads a group of its own.
 */
import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import type { Json } from '../../language/json.ts';
import type { Reach } from '../../language/rights/reach.ts';
import type { Confinement } from '../../language/permissions.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { guardPlaces } from '../../world/confinement/protected-places.ts';
import type { Launch, SandboxRequest } from '../../world/confinement/sandbox.ts';
import { noSecrets, type Secrets } from '../secrets/secrets.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Breach } from './breach.ts';
import { confined } from './confined.ts';
import type { StreamName } from './output/step-log.ts';
import { StreamMask } from './output/stream-mask.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { checkSizes, childEnvironment, markersOf } from '../../world/processes/child-environment.ts';
import { guardMemory } from '../../world/processes/memory.ts';
import { groupsOfStep, leftoversOf, stepMarker, workerMarker } from '../../world/processes/orphans.ts';
import { groupsBelow } from '../../world/processes/process-table.ts';
import { type Exit, readReport } from '../../world/processes/step-init.ts';
import { endGroups } from '../../world/processes/processes.ts';
import { markOf } from '../../world/processes/step-mark.ts';
import { quoteCommand } from './quote-command.ts';

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
  /** What a sandbox shows the process beside the usual. */
  sandbox?: SandboxRequest;
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
  reach?: Reach;
  secrets?: Secrets;
}

/** A started process: its own streams and events, without what waits for the pipes to close. */
export interface Child {
  pid: number;
  /** What its group, its session and all that descends from them are known by: an init (step-init.ts), or itself. */
  leader: number;
  exit: Promise<Exit>;
  /** With an init: resolves once nothing is left of the process and of all that it started; true when the init was killed. */
  gone: Promise<{ wasKilled: boolean }> | null;
  closed: Promise<void>;
  /** Resolves when the process passed its bound on memory, which ends it, or made what it may not. */
  breach: Promise<Breach>;
  /** Once it has ended: what it made at the last moment. */
  lateBreach(): Promise<Breach | null>;
  listen(onData: (stream: StreamName, chunk: Buffer) => void): void;
  release(): void;
}

async function launchOf(request: ShellRequest, context: ShellContext): Promise<Launch> {
  const cwd = await findFolder(request.cwd ?? '.', context);
  const [file, args] =
    request.args === undefined ? ['/bin/sh', ['-c', request.command]] : [request.command, request.args];
  const { handle, project } = context.run;
  const { mode } = context.confinement ?? {};
  const markers = markersOf({ step: stepMarker(handle, context.key), worker: await workerMarker() });
  const env = childEnvironment(process.env, request.env ?? {}, { mode, markers });
  checkSizes(request.args === undefined ? [request.command] : [request.command, ...request.args], env);
  const mark = markOf(stepMarker(handle, context.key));
  const shown = { ...hidingFrom(context), ...request.sandbox };
  return confined({ file, args, cwd, env }, { project, how: context.confinement, markers, mark, ...shown });
}

const notStarted = (cause: unknown, request: ShellRequest, context: ShellContext): Failure =>
  new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" could not be started (${cause instanceof Error ? cause.message : 'for no stated reason'}); check the program's name, PATH and permissions`,
    { cause },
  );

type Spawned = Exclude<ReturnType<typeof spawn>, Error>;

/** Its process id and its end, as the init tells them where there is one. */
function follow(child: Spawned, leader: number, { isBelowInit }: Launch) {
  const ended = new Promise<Exit>((resolve) => {
    (child as ChildProcess).once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (isBelowInit === undefined) return { pid: Promise.resolve(leader), exit: ended, gone: null };
  const { pid, exit } = readReport(child.stdio[3] as Readable);
  const killed: Exit = { code: null, signal: 'SIGKILL' };
  return {
    pid,
    exit: exit.then((told) => told ?? killed),
    gone: Promise.all([exit, ended]).then(([told]) => ({ wasKilled: told === null })),
  };
}

const viewTriesMax = 5;

/** In a sandbox the program itself starts once what it sees has been examined; the sandbox is made anew where something moved. */
async function started(request: ShellRequest, context: ShellContext, stdin: 'ignore' | 'pipe' | Buffer) {
  for (let tries = 1; ; tries += 1) {
    const launch = await launchOf(request, context);
    const child = spawn(launch, stdin);
    launch.view?.close();
    if (child instanceof Error || child.pid === undefined)
      throw notStarted(child instanceof Error ? child : (await child).cause, request, context);
    // Its end is told by its exit: execa's own promise waits for the pipes, which a background child may hold open.
    child.catch(() => undefined);
    const leader = child.pid;
    const followed = follow(child, leader, launch);
    const { exit } = followed;
    const wrong = (await launch.view?.examine(pipesOf(child), exit)) ?? null;
    if (wrong === null)
      return {
        child,
        leader,
        ...followed,
        ...guarded(leader, launch, { memoryMb: context.confinement?.memoryMb, exit }),
      };
    child.kill('SIGKILL');
    await exit;
    if (tries === viewTriesMax) throw wrong;
  }
}

/** The last two descriptors: what bwrap says of itself, and what it waits for. */
function pipesOf({ stdio }: Pick<ChildProcess, 'stdio'>): [Readable, Writable] {
  const [info, gate] = stdio.slice(-2);
  return [info as Readable, gate as Writable];
}

/** A process of a step that is talked to: what it says goes to nobody else, and to no log. */
export interface Talking extends Pick<Child, 'leader' | 'exit' | 'breach' | 'lateBreach'> {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

export async function startTalking(request: ShellRequest, context: ShellContext): Promise<Talking> {
  const { child, leader, exit, breach, lateBreach } = await started(request, context, 'pipe');
  const { stdin, stdout, stderr } = child;
  if (stdin === null) throw new Error('bug: a process that is talked to has no input');
  return { leader, exit, breach, lateBreach, stdin, stdout, stderr };
}

export async function startChild(request: ShellRequest, context: ShellContext): Promise<Child> {
  const stdin = request.stdin === undefined ? 'ignore' : Buffer.from(request.stdin);
  const { child, pid: told, ...rest } = await started(request, context, stdin);
  // Nothing of what it says may be lost until somebody listens: Node lets a paused stream flow when its process ends.
  const early: [StreamName, Buffer][] = [];
  let hear = (name: StreamName, chunk: Buffer): void => void early.push([name, chunk]);
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk: Buffer) => hear(name, chunk));
  const closed = Promise.all([child.stdout, child.stderr].map(isClosed)).then(() => undefined);
  const pid = await told;
  if (pid === null) throw notStarted(new Error('what holds its processes together was ended'), request, context);
  const { results } = context.secrets ?? noSecrets();
  const masks = { stdout: new StreamMask(results), stderr: new StreamMask(results) };
  const ends: (() => void)[] = [];
  const release = (): void => {
    for (const end of ends.splice(0)) end();
    child.stdout.destroy();
    child.stderr.destroy();
  };
  return {
    ...rest,
    pid,
    closed,
    listen(onData) {
      hear = (name, chunk) => onData(name, masks[name].write(chunk));
      for (const [name, chunk] of early.splice(0)) hear(name, chunk);
      for (const name of ['stdout', 'stderr'] as const) ends.push(() => onData(name, masks[name].end()));
      void closed.then(release);
    },
    release,
  };
}

const isClosed = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });

function guarded(
  pid: number,
  { missing = [], cwd }: Launch,
  { memoryMb, exit }: { memoryMb: number | undefined; exit: Promise<Exit> },
): Pick<Child, 'breach' | 'lateBreach'> {
  const places = missing.length === 0 ? null : guardPlaces(cwd, missing);
  const late = exit.then(() => places?.end() ?? null);
  return {
    breach: new Promise((resolve) => {
      if (memoryMb !== undefined)
        void guardMemory(pid, memoryMb, exit).then((usedMb) => resolve({ type: 'memory', usedMb }));
      void places?.first.then((path) => resolve({ type: 'place', path }));
    }),
    async lateBreach() {
      const path = await late;
      return path === null ? null : { type: 'place', path };
    },
  };
}

/** What a process cannot take at all (a NUL in an argument) is thrown at once; it comes back as the error it is. */
function spawn({ file, args, cwd, env, told = [], view, isBelowInit }: Launch, stdin: 'ignore' | 'pipe' | Buffer) {
  const fixed = { extendEnv: false, detached: true, cleanup: false, buffer: false, reject: false } as const;
  const third = isBelowInit === undefined ? told : (['pipe'] as const);
  try {
    return execa(file, args, {
      ...fixed,
      cwd,
      env,
      stdio: [
        stdin,
        'pipe',
        'pipe',
        ...third,
        ...(view === undefined ? [] : [...view.descriptors.map(asListed), 'pipe' as const, 'pipe' as const]),
      ],
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Execa takes any descriptor, and its types list those of one digit. */
const asListed = (descriptor: number): 3 => descriptor as 3;

const hidingFrom = ({ confinement, reach }: ShellContext): Pick<SandboxRequest, 'withoutSecrets'> =>
  confinement?.byModel === true ? { withoutSecrets: { but: reach?.files ?? [] } } : {};

async function findFolder(path: string, context: ShellContext): Promise<string> {
  const cwd = resolveInside(context.run.project, path, accessOf(context));
  const found = await stat(cwd).catch(() => null);
  if (found?.isDirectory() === true) return cwd;
  throw new Failure(
    'SHELL_NOT_STARTED',
    `cwd "${path}" is ${found === null ? 'missing' : 'not a folder'}; create it first or correct the path`,
  );
}

/** Ends the leader's group, and what left the group but descends from it or still carries the step's marker. */
export async function endChild(
  leader: number,
  context: { run: { handle: string }; key: string },
  graceMs: number,
): Promise<void> {
  const find = async (): Promise<number[]> => [
    ...(await groupsBelow(leader)),
    ...(await groupsOfStep(context.run.handle, context.key)),
  ];
  await endGroups(find, graceMs);
}

/**
 * Ends what the step's process left running when it ended; whether there was any. What is about to end by
 * itself has a moment for it. Those of a sandbox have ended with it.
 */
export async function endLeftovers(
  { gone, leader }: Pick<Child, 'gone' | 'leader'>,
  context: ShellContext,
  { idsBefore, beganAt, graceMs }: { idsBefore: ReadonlySet<string>; beganAt: number; graceMs: number },
): Promise<boolean> {
  if (context.confinement?.mode === 'sandboxed') return false;
  if (gone !== null) {
    const end = await Promise.race([gone, sleep(SHELL_BOUNDS.leftoverMs, null)]);
    if (end?.wasKilled === false) return false;
    // Without an init there are only the marks to go by.
    if (end === null) await endGroups(() => groupsBelow(leader), graceMs);
    else await endChild(leader, context, 0);
    return true;
  }
  const marker = stepMarker(context.run.handle, context.key);
  // In a long time an id may have been given anew.
  const isLong = performance.now() - beganAt > SHELL_BOUNDS.idsReusedMs;
  const find = (): Promise<number[]> => leftoversOf(marker, isLong ? null : idsBefore);
  if ((await find()).length === 0) return false;
  await sleep(SHELL_BOUNDS.leftoverMs);
  if ((await find()).length === 0) return false;
  await endGroups(find, graceMs);
  return true;
}

/** Masked before it is cut: half of a value is found by nobody. */
export const quoted = ({ command }: ShellRequest, { secrets }: ShellContext): string =>
  quoteCommand((secrets ?? noSecrets()).results.text(command));

export function exitCodeOf(exit: Exit): number {
  return exit.code ?? 128 + (exit.signal === null ? 0 : constants.signals[exit.signal]);
}
