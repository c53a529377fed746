/** The peers, a package of their own: installed when it is not as its lock file says, run as processes. */
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentSpec } from './agents/protocol.ts';
import type { Together } from './lanes.ts';
import type { Stage } from './stage.ts';
import { answers, ended } from './worker-handle.ts';
import type { Lanes } from './work.ts';
import { packageRoot } from './world.ts';

const execute = promisify(execFile);
const folder = join(packageRoot, 'bench', 'peers');

/** Those that have an agent. */
export const PEERS = ['DBOS', 'LangGraph'] as const;
export type AgentPeer = (typeof PEERS)[number];
export type Peer = AgentPeer | 'Restate';

export interface PeerHandle {
  together: (lanes: Lanes) => Promise<Together>;
  end: () => Promise<void>;
}

const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function installed(): Promise<void> {
  if (writtenAt(join(folder, 'node_modules', '.package-lock.json')) >= writtenAt(join(folder, 'package-lock.json')))
    return;
  await execute('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
}

interface At {
  project?: string;
  modelUrl?: string;
}

const environment = (stage: Stage, { project = stage.project, modelUrl = '' }: At): NodeJS.ProcessEnv => ({
  ...process.env,
  BENCH_DATABASE_URL: stage.databaseUrl,
  BENCH_FOLDER: stage.folder,
  BENCH_PROJECT: project,
  BENCH_MODEL_URL: modelUrl,
});

const programOf = (peer: Peer): string => join(folder, `${peer.toLowerCase()}.mjs`);

/** A process that runs what it is told. */
export async function openPeer(stage: Stage, peer: Peer, at: At = {}): Promise<PeerHandle> {
  await installed();
  const child = fork(programOf(peer), ['serve'], { env: environment(stage, at), execArgv: [] });
  await answers(child, peer);
  return {
    together({ work, ...lanes }) {
      const pending = answers<Together>(child, peer);
      child.send({ ...lanes, work: work.peer });
      return pending;
    },
    async end() {
      const gone = ended(child);
      child.disconnect();
      await gone;
    },
  };
}

/** One agent of a peer, in a process of its own; resolves when it has begun. */
export async function beginPeer(
  stage: Stage,
  peer: AgentPeer,
  how: 'run' | 'resume',
  { spec, url }: { spec: AgentSpec; url: string },
): Promise<{ kill(): void; ended: Promise<void> }> {
  await installed();
  const child = spawn(process.execPath, [programOf(peer), how, JSON.stringify(spec)], {
    env: environment(stage, { modelUrl: url }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    if (code !== 0 && code !== null) throw new Error(`${peer} ended with ${String(code)}`);
  });
  await Promise.race([once(child.stdout, 'data'), exited]);
  return { kill: () => void child.kill('SIGKILL'), ended: exited };
}
