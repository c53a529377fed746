/** One process of a step until its exit: what it says, and what is left of it. It leads a group of its own. */
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { groupsOfStep, leftoversOf, stepMarker } from '../../world/processes/orphans.ts';
import { groupsBelow } from '../../world/processes/process-table.ts';
import { endGroups } from '../../world/processes/processes.ts';
import type { Exit } from '../../world/processes/step-init.ts';
import type { StreamName } from './output/step-log.ts';
import { notStarted, type ShellContext, type ShellRequest } from './request.ts';
import { type Guarded, started } from './start-process.ts';

/** A started process: its own streams and events, without what waits for the pipes to close. */
export interface Child extends Guarded {
  pid: number;
  /** What its group, its session and all that descends from them are known by: an init (step-init.ts), or itself. */
  leader: number;
  exit: Promise<Exit>;
  /** With an init: resolves once nothing is left of the process and of all that it started; true when the init was killed. */
  gone: Promise<{ wasKilled: boolean }> | null;
  closed: Promise<void>;
  /** `end`: bytes of the stream up to the end of the chunk. */
  listen(onData: (stream: StreamName, chunk: Buffer, end: number) => void): void;
  /** What is there by now was heard, and nothing more will be. */
  release(): void;
}

/** A process of a step that is talked to: what it says goes to nobody else, and to no log. */
export interface Talking extends Guarded, Pick<Child, 'leader' | 'exit'> {
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

export function exitCodeOf(exit: Exit): number {
  return exit.code ?? 128 + (exit.signal === null ? 0 : constants.signals[exit.signal]);
}
