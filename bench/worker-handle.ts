/** The benchmark's end of a worker process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Usage, WorkerSpec } from './worker-process.ts';

export interface WorkerHandle {
  pid: number;
  usage(): Promise<Usage>;
  end(): Promise<void>;
}

export async function forkWorker(spec: WorkerSpec, execArgv: string[] = []): Promise<WorkerHandle> {
  const child = fork(fileURLToPath(new URL('./worker-process.js', import.meta.url)), [JSON.stringify(spec)], { execArgv });
  const answer = async (): Promise<Usage> => {
    const settled = new AbortController();
    const { signal } = settled;
    const exited = once(child, 'exit', { signal }).then(() => {
      throw new Error(`the ${spec.side} worker of the benchmark ended by itself`);
    });
    try {
      const [usage] = (await Promise.race([once(child, 'message', { signal }), exited])) as [Usage];
      return usage;
    } finally {
      settled.abort();
      exited.catch(() => undefined);
    }
  };
  await answer();
  return {
    pid: child.pid ?? 0,
    usage() {
      const pending = answer();
      child.send('usage');
      return pending;
    },
    async end() {
      const exited = once(child, 'exit');
      child.send('end');
      await exited;
    },
  };
}
