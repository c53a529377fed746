/**
 * What holds the processes of a step together: an init of its own, below which they stay whatever they do
 * to their group, session, environment and parents (init-programs.ts). Where a host has nothing to run it
 * with, the marks do what they can (step-mark.ts).
 */
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { constants } from 'node:os';
import { execa } from 'execa';
import { findHelper, helperEnvironment, helperPath } from '../own-programs/helper-programs.ts';
import type { Launch } from '../confinement/sandbox.ts';
import { INIT_NAME, perlInit } from './init-programs.ts';
import { pythonInit } from './init-python.ts';

export interface StepInit {
  /** What runs it. */
  program: string;
  args: readonly string[];
}

/** What a step's processes are bounded by (step-mark.ts). */
export interface Mark {
  own: number;
  most: number;
}

/** prctl, setsid, prlimit64, setitimer, fallocate. */
const CALLS: Readonly<Record<string, readonly number[]>> = {
  x64: [157, 112, 302, 38, 285],
  arm64: [167, 157, 261, 103, 47],
};

const calls = process.platform === 'linux' ? CALLS[process.arch] : undefined;
/** Undefined where nothing holds processes together. */
export const setsidCall = calls?.[1];

export interface Language {
  name: string;
  args: readonly string[];
}

/** The quickest first. */
export const LANGUAGES: readonly Language[] = [
  { name: 'perl', args: ['-e', perlInit, '--'] },
  { name: 'python3', args: ['-I', '-S', '-c', pythonInit] },
];

const probeMs = 10_000;
let known: Promise<StepInit | null> | undefined;

/** It is tried, not guessed, once for each worker; null where there is none. */
export async function findInit(): Promise<StepInit | null> {
  known ??= probe(LANGUAGES);
  try {
    return await known;
  } catch {
    // The host was too busy to say; the next step asks again.
    known = undefined;
    return null;
  }
}

/** Throws where one did not answer. */
export async function probe(languages: readonly Language[], withinMs: number = probeMs): Promise<StepInit | null> {
  if (calls === undefined) return null;
  for (const { name, args } of languages) {
    const program = findHelper(name);
    if (program === null) continue;
    const init = { program, args: [...args, ...calls.map(String)] };
    if (await works(init, withinMs)) return init;
  }
  return null;
}

/** A process that lost its parent has to be waited for: that takes a subreaper. */
async function works(init: StepInit, withinMs: number): Promise<boolean> {
  const orphan = { file: '/bin/sh', args: ['-c', '(sleep 0.02; echo after) & exit 3'], cwd: '/', env: {} };
  const { file, args, env } = underInit({ ...orphan, env: { PATH: helperPath() } }, init, {
    mark: { own: 0, most: 0 },
    isPiped: true,
  });
  const tried = await execa(file, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
    env,
    extendEnv: false,
    detached: true,
    reject: false,
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  if (tried.timedOut) throw new Error(`${init.program} did not answer in time`);
  const [, , , report] = tried.stdio;
  return tried.stdout === 'after' && /^pid \d+\nexit 768$/.test(typeof report === 'string' ? report : '');
}

export interface Below {
  mark: Mark;
  dataBytes?: number;
  markers?: Record<string, string>;
  /** Whether somebody reads on a descriptor what becomes of it: the one behind those that are the program's alone. */
  isTold?: boolean;
  /** Whether it has pipes for its streams, in place of what is given (init-programs.ts). One that is kept has. */
  isPiped?: boolean;
  /** Where it is kept so that it outlives its worker, and what holds for it without one. */
  kept?: KeptBelow;
}

export interface KeptBelow {
  folder: string;
  timeoutMs: number;
  graceMs: number;
  memoryMb?: number;
  /** What it may have written that nobody has read. */
  outputBytes: number;
  /** Before each line that it says. */
  tag?: string;
}

function keptArguments(kept: KeptBelow | undefined): string[] {
  if (kept === undefined) return ['', '0', '0', '0', '0'];
  const { folder, timeoutMs, graceMs, memoryMb = 0, outputBytes } = kept;
  return [folder, ...[timeoutMs / 1000, graceMs / 1000, memoryMb * 1024, outputBytes].map(String)];
}

/** Descriptors above the streams that are the process's alone: what it is told, what it sees, and two pipes of its sandbox. */
export const inheritedBy = ({ told = [], view }: Launch): number =>
  told.length + (view === undefined ? 0 : view.descriptors.length + 2);

/** The same process, below an init. */
export function underInit(
  launch: Launch,
  { program, args }: StepInit,
  { mark, dataBytes = 0, markers = {}, isTold = true, kept, isPiped = kept !== undefined }: Below,
): Launch {
  const own = Object.entries(launch.env).map(([name, value]) => [`S_${name}`, value] as const);
  const inherited = inheritedBy(launch);
  const bounds = [mark.own, mark.most, dataBytes, inherited, Number(isPiped)].map(String);
  const told = [isTold ? String(3 + inherited) : '0', kept?.tag === undefined ? '' : `${kept.tag} `];
  return {
    ...launch,
    file: program,
    args: [...args, ...told, ...bounds, ...keptArguments(kept), launch.file, ...launch.args],
    env: { ...helperEnvironment(), ...markers, ...Object.fromEntries(own) },
    isBelowInit: true,
  };
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Report {
  /** Null when the init ended before it had started the program. */
  pid: Promise<number | null>;
  /** Null when the init was ended before the program had. */
  exit: Promise<Exit | null>;
}

export function readReport(stream: Readable): Report {
  let said = '';
  const found = (pattern: RegExp): Promise<number | null> =>
    new Promise((resolve) => {
      stream.on('data', () => {
        const number = pattern.exec(said)?.[1];
        if (number !== undefined) resolve(Number(number));
      });
      // It may be let go of before its end, and a broken pipe says the same as an end.
      for (const event of ['end', 'error', 'close']) stream.once(event, () => resolve(null));
    });
  stream.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
  });
  const exit = found(/^exit (\d+)\n/m).then((status) => (status === null ? null : exitOf(status)));
  return { pid: found(/^pid (\d+)\n/), exit };
}

/** As wait(2) has it: the low seven bits are the signal. */
export function exitOf(status: number): Exit {
  const number = status & 0x7f;
  if (number === 0) return { code: status >> 8, signal: null };
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? { code: 128 + number, signal: null } : { code: null, signal: signal as NodeJS.Signals };
}

/** Whether this process is an init, or calls itself one. */
export function isInit(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1') === `${INIT_NAME}\n`;
  } catch {
    return false;
  }
}
