/** The peers, a package of their own: installed when it is missing, run as processes, answering in JSON. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentSpec } from './agents/protocol.ts';
import type { Mix } from './definitions.ts';
import type { Stage } from './stage.ts';
import { packageRoot } from './world.ts';

const execute = promisify(execFile);
const folder = join(packageRoot, 'bench', 'peers');

export interface PeerFigures {
  p50: number;
  stepsPerSecond: number;
}

async function installed(): Promise<void> {
  if (!existsSync(join(folder, 'node_modules')))
    await execute('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
}

const environment = ({ databaseUrl, project }: Stage, modelUrl = ''): NodeJS.ProcessEnv => ({
  ...process.env,
  BENCH_DATABASE_URL: databaseUrl,
  BENCH_PROJECT: project,
  BENCH_MODEL_URL: modelUrl,
});

export async function runDbos(
  stage: Stage,
  { mix, shape, quick }: { mix: Mix; shape: 'sequence' | 'fan'; quick: boolean },
): Promise<PeerFigures> {
  await installed();
  const args = [join(folder, 'dbos.mjs'), mix, quick ? 'quick' : 'full', shape];
  const { stdout } = await execute(process.execPath, args, { env: environment(stage), timeout: 300_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as PeerFigures;
}

export const PEERS = ['DBOS', 'LangGraph'] as const;
export type Peer = (typeof PEERS)[number];

const programOf = (peer: Peer): string => join(folder, `agent-${peer.toLowerCase()}.mjs`);

export interface AgentFigures {
  /** Of one agent at a time, in milliseconds. */
  p50: number;
  turnsPerSecond: number;
  /** Stored for a run. */
  bytes: number;
  longMs: number;
  longBytes: number;
}

export async function measurePeer(
  stage: Stage,
  peer: Peer,
  sizes: { alone: number; together: number; width: number },
  modelUrl: string,
): Promise<AgentFigures> {
  await installed();
  const args = [programOf(peer), 'measure', JSON.stringify(sizes)];
  const { stdout } = await execute(process.execPath, args, { env: environment(stage, modelUrl), timeout: 300_000 });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as AgentFigures;
}

/** One agent of a peer, in a process of its own; resolves when it has begun. */
export async function beginPeer(
  stage: Stage,
  peer: Peer,
  how: 'run' | 'resume',
  { spec, url }: { spec: AgentSpec; url: string },
): Promise<{ kill(): void; ended: Promise<void> }> {
  await installed();
  const child = spawn(process.execPath, [programOf(peer), how, JSON.stringify(spec)], {
    env: environment(stage, url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    if (code !== 0 && code !== null) throw new Error(`${peer} ended with ${String(code)}`);
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  return { kill: () => void child.kill('SIGKILL'), ended };
}
