/**
 * Talks to a Temporal server just enough to know that it answers, and as what.
 */
import type { Connection } from '@temporalio/client';
import type { TemporalConnectionOptions } from '../config/config.ts';
import { openConnection } from './open-connection.ts';

/** Runs `use` on a connection that is closed afterwards; rejects when nothing answers in time. */
export async function withTemporal<Result>(
  options: TemporalConnectionOptions,
  timeoutMs: number,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(options, timeoutMs);
  try {
    return await connection.withDeadline(Date.now() + Math.max(timeoutMs, 5000), () => use(connection));
  } finally {
    await connection.close();
  }
}

export async function serverVersion(connection: Connection): Promise<string> {
  return (await connection.workflowService.getSystemInfo({})).serverVersion ?? 'unknown';
}

/** Rejects when the namespace is not there. */
export async function describeNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.describeNamespace({ namespace });
}
