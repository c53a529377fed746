/**
 * Gives back what the ended workers of a home were at (services/temporal/lost-work.ts): the supervisor as soon as it
 * sees one end, while the next one starts, and every worker before it serves, for what reached the ended one last,
 * and where there is no supervisor.
 */
import type { Connection } from '@temporalio/client';
import { type Config, connectionOptions } from '../config/config.ts';
import { withTemporal } from '../temporal/temporal-probe.ts';
import { endedWorkers, forgetWorker, hasEnded } from './standing-workers.ts';

/** With as many open runs as there may be. */
const ANSWER_MS = 60_000;

export interface LostWorkersParts {
  home: string;
  /** Lends a connection to the server. */
  connected: (
    use: (connection: Pick<Connection, 'workflowService' | 'withDeadline'>) => Promise<void>,
  ) => Promise<void>;
  /** Told of each worker. What goes wrong is told as well, and left to the server's timeouts. */
  say: (text: string) => void;
}

/** `isLast`: nobody looks after this for what they were at. */
export async function giveLostBack({ home, connected, say }: LostWorkersParts, isLast: boolean): Promise<void> {
  const ended = endedWorkers(home);
  if (ended.length === 0) return;
  const begunAt = Date.now();
  try {
    const { giveBack } = await import('../temporal/lost-work.ts');
    await connected(async (connection) => {
      for (const lost of ended) {
        const { activities, tasks } = await giveBack(connection, lost, hasEnded);
        const counts = `${activities} steps and ${tasks} workflow tasks`;
        say(`${counts} of the worker ${lost.identity}, which has ended, go on (${Date.now() - begunAt} ms)`);
        if (isLast) forgetWorker(home, lost.pid);
      }
    });
  } catch (error) {
    const finding = error instanceof Error ? error.message : String(error);
    say(`what an ended worker was at goes on after its timeouts: ${finding}`);
  }
}

/** Said by the supervisor, which knows where the server is that it keeps. */
export function workerDied(
  { home, ...config }: Config,
  server: { address: string } | null,
  say: (text: string) => void,
) {
  if (server === null) return;
  const { address } = server;
  const temporal = connectionOptions({ home, ...config, temporal: { ...config.temporal, address } });
  void giveLostBack({ home, connected: (use) => withTemporal(temporal, ANSWER_MS, use), say }, false);
}
