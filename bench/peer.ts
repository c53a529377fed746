/** The peer, a package of its own: installed when it is missing, run as a process, answering in JSON. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Mix } from './definitions.ts';
import type { Stage } from './stage.ts';
import { packageRoot } from './world.ts';

const execute = promisify(execFile);
const folder = join(packageRoot, 'bench', 'peers');

export interface PeerFigures {
  p50: number;
  stepsPerSecond: number;
}

export async function runDbos(stage: Stage, mix: Mix, quick: boolean): Promise<PeerFigures> {
  if (!existsSync(join(folder, 'node_modules')))
    await execute('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  const args = [join(folder, 'dbos.mjs'), mix, quick ? 'quick' : 'full'];
  const env = { ...process.env, BENCH_DATABASE_URL: stage.databaseUrl, BENCH_PROJECT: stage.project };
  const { stdout } = await execute(process.execPath, args, { env, timeout: 300_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as PeerFigures;
}
