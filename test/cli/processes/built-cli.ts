/** The command line as one built program, so that it is tested the way it runs: as a process. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { markLine, markOf } from '../../../world/processes/step-mark.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

export interface BuiltCli {
  /** An empty folder that is the command's home and current folder. */
  folder: string;
  /** `within`: as a process of a step. */
  run(
    args: readonly string[],
    options?: { cwd?: string; env?: Record<string, string>; within?: boolean },
  ): Promise<Finished>;
  /** For a shell. */
  commandLine(args: readonly string[]): string;
  /** One that goes on until it is interrupted. */
  spawn(args: readonly string[]): Running;
  remove(): void;
}

export interface Running {
  /** Rejects when it ends, or 20 s pass, without having said so. */
  says(what: RegExp): Promise<void>;
  /** Does something once a second until it is answered. */
  repeat(deed: () => void, answer: RegExp): Promise<void>;
  interrupt(): void;
  ended: Promise<number | null>;
}

export async function buildCli(): Promise<BuiltCli> {
  // Below node_modules, so that packages and package.json are found from there.
  const outdir = mkdtempSync(join(ROOT, 'node_modules', '.sentinel-cli-'));
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-cli-'));
  const { bundleCli } = (await import(pathToFileURL(join(ROOT, 'scripts', 'cli-bundle.mjs')).href)) as {
    bundleCli: (outdir: string) => Promise<unknown>;
  };
  await bundleCli(outdir);
  const program = join(outdir, 'main.js');
  return {
    folder,
    run: (args, { cwd = folder, env = {}, within = false } = {}) =>
      finish([...(within ? WITHIN : []), process.execPath, program, ...args], cwd, {
        SENTINEL_HOME: join(folder, 'home'),
        ...env,
      }),
    commandLine: (args) => [process.execPath, program, ...args].join(' '),
    spawn: (args) => start(program, args, folder, { SENTINEL_HOME: join(folder, 'home') }),
    remove() {
      rmSync(outdir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As a step starts a process. */
const WITHIN = ['bash', '-c', `${markLine(markOf('step'))}; exec "$@"`, 'step'];

/** Nothing here may start a service: addresses nobody serves make an attempt fail at once. */
function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return {
    PATH,
    HOME,
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    SENTINEL_TRUST: 'all',
    ...env,
  };
}

function start(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const says = async (what: RegExp, meanwhile = (): void => undefined): Promise<void> => {
    for (let turn = 0; turn < 200; turn += 1) {
      if (what.test(said)) return;
      if (child.exitCode !== null) break;
      if (turn % 10 === 0) meanwhile();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`it never said ${what.source}, but: ${said}`);
  };
  return {
    says: (what) => says(what),
    repeat: (deed, answer) => says(answer, deed),
    interrupt: () => child.kill('SIGINT'),
    ended,
  };
}

function finish([program = '', ...args]: string[], cwd: string, env: Record<string, string>): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env: environment(env), timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}
