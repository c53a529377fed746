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
import { INIT_NAME, perlInit, pythonInit } from './init-programs.ts';

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

/** prctl, setsid, prlimit64. */
const CALLS: Readonly<Record<string, readonly number[]>> = { x64: [157, 112, 302], arm64: [167, 157, 261] };

export interface Language {
  name: string;
  args: readonly string[];
}

/** The quickest first. */
export const LANGUAGES: readonly Language[] = [
  { name: 'perl', args: ['-e', perlInit, '--'] },
  { name: 'python3', args: ['-I', '-S', '-c', pythonInit] },
];

const probeMs = 5_000;
let known: Promise<StepInit | null> | undefined;

/** It is tried, not guessed, once for each worker; null where there is none. */
export function findInit(): Promise<StepInit | null> {
  known ??= probe(LANGUAGES);
  return known;
}

export async function probe(languages: readonly Language[]): Promise<StepInit | null> {
  const calls = process.platform === 'linux' ? CALLS[process.arch] : undefined;
  if (calls === undefined) return null;
  for (const { name, args } of languages) {
    const program = findHelper(name);
    if (program === null) continue;
    const init = { program, args: [...args, ...calls.map(String)] };
    if (await works(init)) return init;
  }
  return null;
}

/** A process that lost its parent has to be waited for: that takes a subreaper. */
async function works(init: StepInit): Promise<boolean> {
  const orphan = { file: '/bin/sh', args: ['-c', '(sleep 0.02; echo after) & exit 3'], cwd: '/', env: {} };
  const { file, args, env } = underInit({ ...orphan, env: { PATH: helperPath() } }, init, {
    mark: { own: 0, most: 0 },
  });
  const tried = await execa(file, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
    env,
    extendEnv: false,
    detached: true,
    reject: false,
    timeout: probeMs,
  });
  const [, , , report] = tried.stdio;
  return tried.stdout === 'after' && /^pid \d+\nexit 768$/.test(typeof report === 'string' ? report : '');
}

export interface Below {
  mark: Mark;
  dataBytes?: number;
  markers?: Record<string, string>;
  /** Whether somebody reads on descriptor 3 what becomes of it. */
  isTold?: boolean;
}

/** The same process, below an init. */
export function underInit(
  launch: Launch,
  { program, args }: StepInit,
  { mark, dataBytes = 0, markers = {}, isTold = true }: Below,
): Launch {
  const own = Object.entries(launch.env).map(([name, value]) => [`S_${name}`, value] as const);
  return {
    ...launch,
    file: program,
    args: [...args, ...[isTold ? 3 : 0, mark.own, mark.most, dataBytes].map(String), launch.file, ...launch.args],
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
function exitOf(status: number): Exit {
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
