/** A step's process that outlives its worker: started, or taken over from a worker that is no more. */
import { existsSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../language/defined.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { live } from '../../world/confinement/project-view.ts';
import type { CrashPlace } from '../../world/crash-points/armed-deaths.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import {
  digestOf,
  type Keeper,
  type KeptFolder,
  type KeptStart,
  uptime,
} from '../../world/processes/kept/kept-folder.ts';
import { endOf } from '../../world/processes/kept/kept-process.ts';
import type { Hold } from '../../world/processes/kept/kept-processes.ts';
import type { Starter } from '../../world/processes/kept/starter.ts';
import { KeptStreams } from '../../world/processes/kept/kept-streams.ts';
import { exitOf, type Exit } from '../../world/processes/step-init.ts';
import type { Child } from './child.ts';
import { notStarted, type ShellContext, type ShellRequest } from './request.ts';
import { guarded, startedKept } from './start-process.ts';

export interface KeptChild extends Child {
  streams: KeptStreams;
  /** Resolves once it is gone and nobody knows how it ended. */
  lost: Promise<void>;
}

/** What is asked for, without what is another in every attempt. */
export const digestOfRequest = ({ command, args, cwd, env, stdin }: ShellRequest): string =>
  digestOf([command, args, cwd, env, stdin]);

export function startOf(request: ShellRequest, { run, key, attempt }: ShellContext): KeptStart {
  return {
    handle: run.handle,
    key,
    attempt,
    timeoutMs: request.timeoutMs,
    digest: digestOfRequest(request),
    beganAt: uptime(),
  };
}

export async function startKept(
  request: ShellRequest,
  context: ShellContext,
  { hold, graceMs, starter }: { hold: Hold; graceMs: number; starter: Starter },
): Promise<KeptChild> {
  const { folder } = hold;
  const { memoryMb } = context.confinement ?? {};
  const bounds = {
    folder: folder.path,
    // A worker that lives ends it first, and can say more.
    timeoutMs: request.timeoutMs + SHELL_BOUNDS.keeperLateMs,
    graceMs,
    outputBytes: SHELL_BOUNDS.unreadBytesMax,
    ...defined({ memoryMb }),
  };
  const { pid: told, ...begun } = await startedKept(request, context, { folder, bounds, starter });
  const pid = await told;
  if (pid === null) throw notStarted(new Error(keeperComplaint(folder)), request, context);
  crashPoint('process.begun', placeOf(context));
  const streams = new KeptStreams(folder);
  const child = { pid, ...begun, lost: new Promise<void>(() => undefined) };
  return { ...child, ...listening(streams, folder, { ...child, context }), streams };
}

const placeOf = ({ run, key }: ShellContext): CrashPlace => ({ handle: run.handle, key });

/** What it said instead of beginning. */
function keeperComplaint(folder: KeptFolder): string {
  return folder.said('err').trim() || 'what holds its processes together was ended';
}

export function takeOver({ folder, keeper }: { folder: KeptFolder; keeper: Keeper }, context: ShellContext): KeptChild {
  const { pid: leader } = keeper;
  const { outcome } = folder;
  const found = endOf(folder, keeper);
  const told = outcome === null ? found.exit : Promise.resolve(exitOf(outcome.status));
  const never = new Promise<never>(() => undefined);
  const exit = told.then((known) => known ?? never);
  const lost = told.then((known) => (known === null ? undefined : never));
  const { memoryMb } = context.confinement ?? {};
  const bounds = guarded(leader, folder.places ?? { cwd: rootOf(context), missing: [] }, {
    memoryMb,
    exit: Promise.race([exit, lost]) as Promise<Exit>,
  });
  // A project that was moved meanwhile is where its process is, and no view of it has this name.
  const isInView = context.confinement?.mode === 'sandboxed' && existsSync(rootOf(context));
  if (isInView) live(realpathSync(rootOf(context)), Promise.race([exit, lost]));
  const streams = new KeptStreams(folder);
  const child = { pid: leader, leader, exit, gone: found.gone, ...bounds, lost };
  const { listen, release, closed } = listening(streams, folder, { ...child, context });
  return {
    ...child,
    closed,
    listen,
    streams,
    release() {
      release();
      found.close();
    },
  };
}

/** Its output is closed once nothing of it is left, or nothing that holds it open. */
function listening(
  streams: KeptStreams,
  folder: KeptFolder,
  { exit, gone, context }: Pick<Child, 'exit' | 'gone'> & { context: ShellContext },
): Pick<Child, 'closed' | 'listen' | 'release'> {
  const released = new AbortController();
  const { signal } = released;
  const isHeld = async (): Promise<void> => {
    for (let waitMs = 20; ; waitMs = SHELL_BOUNDS.leftoverMs / 2) {
      await sleep(waitMs, undefined, { ref: false, signal });
      if (!folder.isHeldOpen) return;
    }
  };
  return {
    closed: exit.then(async () => {
      await Promise.race([gone, isHeld().catch(() => undefined)]);
    }),
    listen(onData) {
      let isFirst = true;
      streams.follow((stream, piece, end) => {
        if (isFirst) crashPoint('process.heard', placeOf(context));
        isFirst = false;
        onData(stream, piece, end);
      });
    },
    release() {
      released.abort();
      streams.drain();
      streams.close();
    },
  };
}
