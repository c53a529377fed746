/** What stands of a process that an earlier worker has started, and its end as a later one learns of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from '../processes.ts';
import { exitOf, type Exit } from '../step-init.ts';
import { hostIdentity, type Keeper, type KeptFolder, type KeptStart } from './kept-folder.ts';

const lookMs = 50;
/** A keeper that was started says within a moment who it is. */
const beginsMs = 2_000;

export type KeptState =
  /** It was never started, or what was asked for is another process. */
  | { state: 'none' }
  | { state: 'running'; folder: KeptFolder; start: KeptStart; keeper: Keeper }
  | { state: 'ended'; folder: KeptFolder; start: KeptStart; keeper: Keeper }
  /** It was started, and neither it nor its outcome is to be found. */
  | { state: 'unknown'; folder: KeptFolder };

/** `isStarting`: whether something of the step is alive, where its keeper has not said yet who it is. */
export async function stateOf(folder: KeptFolder, isStarting: () => Promise<boolean>): Promise<KeptState> {
  const { start } = folder;
  if (start === null) return { state: 'none' };
  const giveUpAt = performance.now() + beginsMs;
  while (folder.keeper === null && performance.now() < giveUpAt && (await isStarting())) await sleep(lookMs);
  const { keeper } = folder;
  // The program runs once its keeper is known: without one, nothing has happened.
  if (keeper === null || !folder.hasBegun) return { state: 'none' };
  if (folder.outcome !== null) return { state: 'ended', folder, start, keeper };
  if (await isThere(keeper)) return { state: 'running', folder, start, keeper };
  // It may have ended between the two looks.
  return folder.outcome === null ? { state: 'unknown', folder } : { state: 'ended', folder, start, keeper };
}

export const isThere = async ({ host, pid, start }: Keeper): Promise<boolean> =>
  host === hostIdentity() && (await processStart(pid)) === start;

export interface KeptEnd {
  /** Null: it is gone, and nobody knows how it ended. */
  exit: Promise<Exit | null>;
  gone: Promise<{ wasKilled: boolean }>;
  close(): void;
}

/** Of one whose keeper is no child of ours. */
export function endOf(folder: KeptFolder, keeper: Keeper): KeptEnd {
  const closing = new AbortController();
  const { signal } = closing;
  const told = async (): Promise<Exit | null> => {
    for (let looks = 1; ; looks += 1) {
      const { outcome } = folder;
      if (outcome !== null) return exitOf(outcome.status);
      const isGone = looks % 10 === 0 && !(await isThere(keeper));
      if (isGone) return folder.outcome === null ? null : exitOf(folder.outcome.status);
      await sleep(lookMs, undefined, { signal });
    }
  };
  const ended = async (): Promise<{ wasKilled: boolean }> => {
    while (await isThere(keeper)) await sleep(lookMs, undefined, { signal });
    return { wasKilled: folder.outcome === null };
  };
  const never = new Promise<never>(() => undefined);
  return {
    exit: told().catch(() => never),
    gone: ended().catch(() => never),
    close: () => closing.abort(),
  };
}
