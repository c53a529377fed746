/** The command line as one built program, so that it is tested the way it runs: as a process. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
  durationMs: number;
}

export interface BuiltCli {
  /** An empty folder that is the command's home and current folder. */
  folder: string;
  run(args: readonly string[], options?: { cwd?: string; env?: Record<string, string> }): Promise<Finished>;
  remove(): void;
}

export async function buildCli(): Promise<BuiltCli> {
  // Below node_modules, so that packages and package.json are found from there.
  const outdir = mkdtempSync(join(ROOT, 'node_modules', '.sentinel-cli-'));
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-cli-'));
  await build({
    entryPoints: [join(ROOT, 'client', 'cli', 'main.ts')],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  const program = join(outdir, 'main.js');
  return {
    folder,
    run: (args, { cwd = folder, env = {} } = {}) => finish(program, args, cwd, { SENTINEL_HOME: join(folder, 'home'), ...env }),
    remove() {
      rmSync(outdir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function finish(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<Finished> {
  const { PATH = '', HOME = '' } = process.env;
  // Nothing here may start a service: addresses nobody serves make an attempt fail at once.
  const nowhere = { TEMPORAL_ADDRESS: '127.0.0.1:9', DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
  const began = performance.now();
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd, env: { PATH, HOME, ...nowhere, ...env }, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr, durationMs: performance.now() - began });
    });
  });
}
