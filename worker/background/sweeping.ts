/** Takes away what nothing needs any more: when a worker starts, and while it lives. */
import { sweepTrees } from '../../operations/checkpoints/sweep-trees.ts';
import { sweepWorkspaces } from '../../operations/workspaces/remove-workspace.ts';
import type { RunServices } from '../../runs/start-run.ts';
import { sweepSchedules } from '../../runs/sweep-schedules.ts';

const everyMs = 3_600_000;

export function keepSwept(parts: Pick<RunServices, 'client' | 'store'>, home: string): { end(): void } {
  const swept = Object.values(parts.store).filter(isSwept);
  // A run that the store does not know may be one of another database: its workspace stays.
  const endedAt = async (handle: string): Promise<number | null> =>
    (await parts.store.runs.find(handle))?.finishedAt ?? null;
  const sweep = (): void => {
    // What one round could not take away, because the store or Temporal was away, the next one does.
    for (const part of swept) void part.sweep().catch(() => undefined);
    void sweepSchedules(parts).catch(() => undefined);
    void sweepTrees(home).catch(() => undefined);
    void sweepWorkspaces(endedAt).catch(() => undefined);
  };
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return { end: () => clearInterval(timer) };
}

/** Every part of the store that knows how, so that none is forgotten here. */
const isSwept = (part: unknown): part is { sweep(): Promise<void> } =>
  typeof part === 'object' && part !== null && 'sweep' in part && typeof part.sweep === 'function';
