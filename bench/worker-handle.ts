/** The benchmark's end of a worker process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WORKER_NODE_FLAGS } from '../services/supervisor/worker-process.ts';
import type { Together } from './lanes.ts';
import type { Lanes, Usage, WorkerSpec } from './worker-process.ts';

export interface WorkerHandle {
  pid: number;
  usage(): Promise<Usage>;
  /** Runs inside the worker's process, as somebody who embeds it would. */
  together(lanes: Lanes): Promise<Together>;
  /** Without notice. */
  kill(): Promise<void>;
  end(): Promise<void>;
}

export async function forkWorker(spec: WorkerSpec): Promise<WorkerHandle> {
  const child = fork(fileURLToPath(new URL('./worker-process.js', import.meta.url)), [JSON.stringify(spec)], {
    execArgv: [...WORKER_NODE_FLAGS],
  });
  const answer = async <Answer>(): Promise<Answer> => {
    const settled = new AbortController();
    const { signal } = settled;
    const exited = once(child, 'exit', { signal }).then(() => {
      throw new Error(`the ${spec.side} worker of the benchmark ended by itself`);
    });
    try {
      const [answered] = (await Promise.race([once(child, 'message', { signal }), exited])) as [Answer];
      return answered;
    } finally {
      settled.abort();
      exited.catch(() => undefined);
    }
  };
  await answer();
  return {
    pid: child.pid ?? 0,
    usage() {
      const pending = answer<Usage>();
      child.send('usage');
      return pending;
    },
    together(lanes) {
      const pending = answer<Together>();
      child.send(lanes);
      return pending;
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      const exited = once(child, 'exit');
      child.send('end');
      await exited;
    },
  };
}
