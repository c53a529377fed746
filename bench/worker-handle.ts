/** The benchmark's end of a worker process, and of any process that answers what it is told. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WORKER_NODE_FLAGS } from '../services/supervisor/worker-process.ts';
import type { Lanes, Ran, Usage, WorkerSpec } from './work.ts';

export interface WorkerHandle {
  pid: number;
  usage(): Promise<Usage>;
  /** Runs inside the worker's process, as somebody who embeds it would. */
  together(lanes: Lanes): Promise<Ran>;
  /** Without notice. */
  kill(): Promise<void>;
  end: () => Promise<void>;
}

/** The next message of a process; rejects when it ends before. */
export async function answers<Answer>(child: ChildProcess, name: string): Promise<Answer> {
  const settled = new AbortController();
  const { signal } = settled;
  const exited = once(child, 'exit', { signal }).then(() => {
    throw new Error(`${name} ended by itself`);
  });
  try {
    const [answered] = (await Promise.race([once(child, 'message', { signal }), exited])) as [Answer];
    return answered;
  } finally {
    settled.abort();
    exited.catch(() => undefined);
  }
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

export async function forkWorker(spec: WorkerSpec): Promise<WorkerHandle> {
  const child = fork(fileURLToPath(new URL('./worker-process.js', import.meta.url)), [JSON.stringify(spec)], {
    execArgv: [...WORKER_NODE_FLAGS],
  });
  const answer = <Answer>(): Promise<Answer> => answers(child, `the ${spec.side} worker of the benchmark`);
  await answer();
  return {
    pid: child.pid ?? 0,
    usage() {
      const pending = answer<Usage>();
      child.send('usage');
      return pending;
    },
    together(lanes) {
      const pending = answer<Ran>();
      child.send(lanes);
      return pending;
    },
    async kill() {
      const gone = ended(child);
      child.kill('SIGKILL');
      await gone;
    },
    async end() {
      const gone = ended(child);
      child.send('end');
      await gone;
    },
  };
}
