/** A process of a step is started: in the folder that the step names, with the environment it may have, held in as its run's mode says. */
import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { defined } from '../../language/defined.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { gateOf, type ProjectView } from '../../world/confinement/project-view.ts';
import { guardPlaces } from '../../world/confinement/protected-places.ts';
import type { Launch, SandboxRequest } from '../../world/confinement/sandbox.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { Failure } from '../../world/failures/failures.ts';
import { checkSizes, childEnvironment, markersOf } from '../../world/processes/child-environment.ts';
import type { KeptFolder } from '../../world/processes/kept/kept-folder.ts';
import type { Starter } from '../../world/processes/kept/starter.ts';
import { guardMemory } from '../../world/processes/memory.ts';
import { stepMarker, workerMarker } from '../../world/processes/orphans.ts';
import { KEPT_MARKER } from '../../world/processes/processes.ts';
import { type Exit, inheritedBy, type KeptBelow, readReport } from '../../world/processes/step-init.ts';
import { markOf } from '../../world/processes/step-mark.ts';
import type { Breach } from './breach.ts';
import { confined } from './confined.ts';
import { notStarted, type ShellContext, type ShellRequest } from './request.ts';

async function launchOf(
  request: ShellRequest,
  context: ShellContext,
  { isPiped, kept }: { isPiped: boolean; kept: KeptBelow | undefined },
): Promise<Launch> {
  const cwd = await findFolder(request.cwd ?? '.', context);
  const [file, args] =
    request.args === undefined ? ['/bin/sh', ['-c', request.command]] : [request.command, request.args];
  const { handle } = context.run;
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
    { project: rootOf(context), how: context.confinement, markers, mark, isPiped, ...defined({ kept }), ...shown },
  );
}

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

interface Followed {
  pid: Promise<number | null>;
  exit: Promise<Exit>;
  /** With an init: resolves once nothing is left of the process and of all that it started; true when the init was killed. */
  gone: Promise<{ wasKilled: boolean }> | null;
}

export interface Guarded {
  /** Resolves when the process passed its bound on memory, which ends it, or made what it may not. */
  breach: Promise<Breach>;
  /** Once it has ended: what it made at the last moment. */
  lateBreach: () => Promise<Breach | null>;
}

interface Begun extends Followed, Guarded {
  child: Spawned;
  /** What its group, its session and all that descends from them are known by: an init (step-init.ts), or itself. */
  leader: number;
}

/** Where a process is kept, and what holds for it without a worker. */
interface Kept {
  folder: KeptFolder;
  bounds: KeptBelow;
}

/** One that outlives its worker: by the worker's starter where nothing has to be handed to it, as a sandbox has to. */
export async function startedKept(
  request: ShellRequest,
  context: ShellContext,
  { starter, ...kept }: Kept & { starter: Starter },
): Promise<Omit<Begun, 'child'>> {
  const { folder, bounds } = kept;
  const input = request.stdin === undefined ? null : folder.writeInput(Buffer.from(request.stdin));
  const { mode, memoryMb } = context.confinement ?? {};
  if (mode !== 'sandboxed') {
    const tag = starter.nextTag();
    const launch = await launchOf(request, context, { isPiped: true, kept: { ...bounds, tag } });
    if (launch.isBelowInit === true && inheritedBy(launch) === 0) {
      const { cwd, missing = [] } = launch;
      if (missing.length > 0) folder.notePlaces({ cwd, missing });
      context.checkAttempt?.();
      const begun = await starter.start(launch, tag, { input, folder: folder.path });
      if (begun instanceof Error) throw notStarted(begun, request, context);
      if (begun !== null) {
        crashPoint('process.spawned', { handle: context.run.handle, key: context.key });
        return {
          ...begun,
          pid: Promise.resolve(begun.pid),
          ...guarded(begun.leader, launch, { memoryMb, exit: begun.exit }),
        };
      }
    }
    launch.view?.close();
  }
  const descriptors = [
    ...(input === null ? [] : [folder.openInput()]),
    folder.openOutput('out'),
    folder.openOutput('err'),
  ];
  try {
    const [stdout = -1, stderr = -1] = descriptors.slice(-2);
    const stdin = input === null ? 'ignore' : (descriptors[0] ?? -1);
    return await started(request, context, [stdin, stdout, stderr], { kept });
  } finally {
    folder.close(descriptors);
  }
}

/** What it may not come to while it runs. */
export function guarded(
  pid: number,
  { missing = [], cwd }: Pick<Launch, 'missing' | 'cwd'>,
  { memoryMb, exit }: { memoryMb: number | undefined; exit: Promise<Exit> },
): Guarded {
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
  const cwd = resolveInside(rootOf(context), path, accessOf(context));
  const found = await stat(cwd).catch(() => null);
  if (found?.isDirectory() === true) return cwd;
  throw new Failure(
    'SHELL_NOT_STARTED',
    `cwd "${path}" is ${found === null ? 'missing' : 'not a folder'}; create it first or correct the path`,
  );
}
