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
import { defined } from '../../language/defined.ts';
import type { Json } from '../../language/json.ts';
import type { Reach } from '../../language/rights/reach.ts';
import type { Confinement } from '../../language/permissions.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import { accessOf, resolveInside } from '../../world/confinement/confine.ts';
import { guardPlaces } from '../../world/confinement/protected-places.ts';
import { gateOf, type ProjectView } from '../../world/confinement/project-view.ts';
import type { Launch, SandboxRequest } from '../../world/confinement/sandbox.ts';
import { noSecrets, type Secrets } from '../secrets/secrets.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Breach } from './breach.ts';
import { confined } from './confined.ts';
import type { StreamName } from './output/step-log.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { checkSizes, childEnvironment, markersOf } from '../../world/processes/child-environment.ts';
import { guardMemory } from '../../world/processes/memory.ts';
import { groupsOfStep, leftoversOf, stepMarker, workerMarker } from '../../world/processes/orphans.ts';
import { groupsBelow } from '../../world/processes/process-table.ts';
import type { KeptFolder } from '../../world/processes/kept/kept-folder.ts';
import type { KeptProcesses } from '../../world/processes/kept/kept-processes.ts';
import { type Exit, inheritedBy, type KeptBelow, readReport } from '../../world/processes/step-init.ts';
import { endGroups, KEPT_MARKER } from '../../world/processes/processes.ts';
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
  /** Values too large for the environment: each becomes a file, and its variable with `_FILE` names it. */
  files?: { [name: string]: string };
  /** What a sandbox shows the process beside the usual. */
  sandbox?: SandboxRequest;
  /** The process outlives its worker, where it can; one for each key. */
  isKept?: boolean;
  /** Where nobody knows what came of an earlier attempt: absent, it runs again; `tell`, the step fails with `SHELL_OUTCOME_UNKNOWN`. */
  onUnknown?: 'tell';
}

export interface ShellContext {
  run: RunContext;
  key: string;
  attempt: number;
  signal: AbortSignal;
  /** Before anything is started: throws `LeftBehind` where another attempt may have begun. */
  checkAttempt?: () => void;
  store: { logs: Pick<Store['logs'], 'append' | 'begun'> };
  heartbeat(details?: Json): void;
  now(): number;
  /** How the step's processes are held in; absent means not at all. */
  confinement?: Confinement;
  reach?: Reach;
  secrets?: Secrets;
  /** Absent: a process ends with its worker. */
  keeping?: Keeping;
  /** A segment has begun it, and left it to this attempt. */
  isHandedOver?: boolean;
}

/** Of a step whose process outlives its worker. */
export interface Keeping {
  processes: KeptProcesses;
  /** Whether a step that is aborted has to end its process; another attempt goes on with it otherwise. */
  ends(): boolean;
  /** As that of a request, for whoever does not make the request. */
  onUnknown?: 'tell';
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
  /** `end`: bytes of the stream up to the end of the chunk. */
  listen(onData: (stream: StreamName, chunk: Buffer, end: number) => void): void;
  /** What is there by now was heard, and nothing more will be. */
  release(): void;
}

async function launchOf(
  request: ShellRequest,
  context: ShellContext,
  { isPiped, kept }: { isPiped: boolean; kept: KeptBelow | undefined },
): Promise<Launch> {
  const cwd = await findFolder(request.cwd ?? '.', context);
  const [file, args] =
    request.args === undefined ? ['/bin/sh', ['-c', request.command]] : [request.command, request.args];
  const { handle, project } = context.run;
  const { mode } = context.confinement ?? {};
  const markers = {
    ...markersOf({ step: stepMarker(handle, context.key), worker: await workerMarker() }),
    ...(kept === undefined ? {} : { [KEPT_MARKER]: kept.folder }),
  };
  const env = childEnvironment(process.env, request.env ?? {}, { mode, markers });
  checkSizes(request.args === undefined ? [request.command] : [request.command, ...request.args], env);
  const mark = markOf(stepMarker(handle, context.key));
  const shown = { ...hidingFrom(context), ...request.sandbox };
  return confined(
    { file, args, cwd, env },
    { project, how: context.confinement, markers, mark, isPiped, ...defined({ kept }), ...shown },
  );
}

export const notStarted = (cause: unknown, request: ShellRequest, context: ShellContext): Failure =>
  new Failure(
    'SHELL_NOT_STARTED',
    `"${quoted(request, context)}" could not be started (${cause instanceof Error ? cause.message : 'for no stated reason'}); check the program's name, PATH and permissions`,
    { cause },
  );

type Spawned = Exclude<ReturnType<typeof spawn>, Error>;

/** Its process id and its end, as the init tells them where there is one. */
function follow(child: Spawned, leader: number, { isBelowInit }: Launch): Followed {
  const ended = new Promise<Exit>((resolve) => {
    (child as ChildProcess).once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (isBelowInit === undefined) return { pid: Promise.resolve(leader), exit: ended, gone: null };
  const { pid, exit } = readReport(child.stdio.at(-1) as Readable);
  const killed: Exit = { code: null, signal: 'SIGKILL' };
  return {
    pid,
    exit: exit.then((told) => told ?? killed),
    gone: Promise.all([exit, ended]).then(([told]) => ({ wasKilled: told === null })),
  };
}

const viewTriesMax = 5;

/** A descriptor is one that this worker has open; it stays open here. */
type Streams = readonly [stdin: 'ignore' | 'pipe' | Buffer | number, stdout: 'pipe' | number, stderr: 'pipe' | number];

/** In a sandbox the program itself starts once what it sees has been examined; the sandbox is made anew where something moved. */
export async function started(
  request: ShellRequest,
  context: ShellContext,
  streams: Streams,
  { kept, isPiped = true }: { kept?: Kept; isPiped?: boolean } = {},
): Promise<Begun> {
  for (let tries = 1; ; tries += 1) {
    const launch = await launchOf(request, context, { isPiped, kept: kept?.bounds });
    const { cwd, missing = [] } = launch;
    if (missing.length > 0) kept?.folder.notePlaces({ cwd, missing });
    const gate = launch.view === undefined ? undefined : kept?.folder.makeGate();
    const infoAt = 1 + inheritedBy(launch);
    context.checkAttempt?.();
    const child = spawn(launch, streams, gate);
    launch.view?.close();
    if (child instanceof Error || child.pid === undefined)
      throw notStarted(child instanceof Error ? child : (await child).cause, request, context);
    // Its end is told by its exit: execa's own promise waits for the pipes, which a background child may hold open.
    child.catch(() => undefined);
    const leader = child.pid;
    if (kept !== undefined) crashPoint('process.spawned', { handle: context.run.handle, key: context.key });
    const followed = follow(child, leader, launch);
    const { exit } = followed;
    const wrong = launch.view === undefined ? null : await examined(launch.view, { child, infoAt, gate, kept, exit });
    if (gate !== undefined) kept?.folder.close([gate]);
    if (wrong === null)
      return {
        child,
        leader,
        ...followed,
        ...guarded(leader, launch, { memoryMb: context.confinement?.memoryMb, exit }),
      };
    child.kill('SIGKILL');
    await followed.gone;
    await exit;
    if (tries === viewTriesMax) throw wrong;
    kept?.folder.reset();
  }
}

interface Examined extends Pick<Followed, 'exit'> {
  child: Spawned;
  /** Where bwrap's two pipes stand among its streams: what it says of itself, and what it waits for. */
  infoAt: number;
  gate: number | undefined;
  kept: Kept | undefined;
}

function examined(view: ProjectView, { child, infoAt, gate, kept, exit }: Examined): Promise<Failure | null> {
  const [info, waits] = child.stdio.slice(infoAt);
  const open = gate === undefined ? gateOf(waits as Writable) : (): void => kept?.folder.openGate(gate);
  return view.examine(info as Readable, exit, open);
}

type Followed = Pick<Child, 'exit' | 'gone'> & { pid: Promise<number | null> };

interface Begun extends Followed, Pick<Child, 'leader' | 'breach' | 'lateBreach'> {
  child: Spawned;
}

/** Where a process is kept, and what holds for it without a worker. */
interface Kept {
  folder: KeptFolder;
  bounds: KeptBelow;
}

/** A process of a step that is talked to: what it says goes to nobody else, and to no log. */
export interface Talking extends Pick<Child, 'leader' | 'exit' | 'breach' | 'lateBreach'> {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

export async function startTalking(request: ShellRequest, context: ShellContext): Promise<Talking> {
  const streams = ['pipe', 'pipe', 'pipe'] as const;
  const { child, leader, exit, breach, lateBreach } = await started(request, context, streams, { isPiped: false });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null)
    throw new Error('bug: a process that is talked to has no input');
  return { leader, exit, breach, lateBreach, stdin, stdout, stderr };
}

export async function startChild(request: ShellRequest, context: ShellContext): Promise<Child> {
  const stdin = request.stdin === undefined ? 'ignore' : Buffer.from(request.stdin);
  const { child, pid: told, ...rest } = await started(request, context, [stdin, 'pipe', 'pipe']);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('bug: a process that is listened to has no output');
  // Nothing of what it says may be lost until somebody listens: Node lets a paused stream flow when its process ends.
  const early: [StreamName, Buffer][] = [];
  let hear = (name: StreamName, chunk: Buffer): void => void early.push([name, chunk]);
  const streams = { stdout, stderr };
  for (const name of ['stdout', 'stderr'] as const) streams[name].on('data', (chunk: Buffer) => hear(name, chunk));
  const closed = Promise.all([stdout, stderr].map(isClosed)).then(() => undefined);
  const pid = await told;
  if (pid === null) throw notStarted(new Error('what holds its processes together was ended'), request, context);
  const release = (): void => {
    stdout.destroy();
    stderr.destroy();
  };
  return {
    ...rest,
    pid,
    closed,
    listen(onData) {
      const ends = { stdout: 0, stderr: 0 };
      hear = (name, chunk) => {
        ends[name] += chunk.length;
        onData(name, chunk, ends[name]);
      };
      for (const [name, chunk] of early.splice(0)) hear(name, chunk);
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

/** What it may not come to while it runs. */
export function guarded(
  pid: number,
  { missing = [], cwd }: Pick<Launch, 'missing' | 'cwd'>,
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
function spawn(
  { file, args, cwd, env, told = [], view, isBelowInit }: Launch,
  [stdin, stdout, stderr]: Streams,
  gate?: number,
) {
  const fixed = { extendEnv: false, detached: true, cleanup: false, buffer: false, reject: false } as const;
  try {
    return execa(file, args, {
      ...fixed,
      cwd,
      env,
      stdio: [
        asInput(stdin),
        typeof stdout === 'number' ? asListed(stdout) : stdout,
        typeof stderr === 'number' ? asListed(stderr) : stderr,
        ...told,
        ...(view === undefined ? [] : [...view.descriptors.map(asListed), 'pipe' as const, asInput(gate ?? 'pipe')]),
        ...(isBelowInit === undefined ? [] : ['pipe' as const]),
      ],
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Execa takes any descriptor, and its types list those of one digit. */
const asListed = (descriptor: number): 3 => descriptor as 3;
const asInput = (stdin: Streams[0]): 'ignore' | 'pipe' | Buffer | 3 =>
  typeof stdin === 'number' ? asListed(stdin) : stdin;

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
  { idsBefore, beganAt, graceMs }: { idsBefore: ReadonlySet<string> | null; beganAt: number; graceMs: number },
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
