/**
 * A run's turn in the group that its definition names; with `cancel`, those started before it are told to end. A run
 * that asks after one that would have ended it ends as well.
 */
import type { GroupAsked } from '../../interpreter/contract.ts';
import type { GroupTurn } from '../../interpreter/host.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

interface Parts {
  store: Pick<Store, 'leases' | 'runs' | 'events'>;
  /** Null: the run has ended. */
  runs: { control(handle: string, verb: 'cancel', said: { reason: string; id: string }): Promise<unknown> };
}

const BEGINNINGS_LOOKED_AT = 1_000;

const WHEN_HELD = { queue: 'wait', skip: 'leave', cancel: 'end-earlier' } as const;

/**
 * A run asks before its first step. Where its row says that it has ended, an attempt has walked on from here to the end,
 * and its task failed because something reached the run meanwhile: what it recorded since is not so. Steps that were
 * done stay done.
 */
async function takeBackEnd({ runs, events }: Parts['store'], handle: string): Promise<void> {
  if (((await runs.find(handle))?.finishedAt ?? null) === null) return;
  const said = await events.latest(handle, ['run-started', 'group'], BEGINNINGS_LOOKED_AT);
  const last = said.findLast(
    (event) => event.type === 'run-started' || (event.state === 'waiting' && event.of === undefined),
  );
  if (last !== undefined) await events.takeBack(handle, last.seq + 1, 0);
}

export async function askForGroup(
  { store, runs }: Parts,
  { handle, project }: RunContext,
  { group, onConflict, since }: GroupAsked,
): Promise<GroupTurn> {
  const whenHeld = WHEN_HELD[onConflict];
  await takeBackEnd(store, handle);
  crashPoint('group.asking', { handle });
  const lease = { kind: 'group', project, name: group, capacity: 1 } as const;
  const { before, holder, later = [], endedBy } = await store.leases.ask({ ...lease, handle, since, whenHeld });
  crashPoint('group.answered', { handle });
  if (before === null) return { state: 'taken' };
  if (onConflict === 'skip') return { state: 'skipped', holder: holder ?? before[0] ?? endedBy ?? handle };
  const cancel = (other: string, by: string): Promise<unknown> =>
    runs.control(other, 'cancel', { reason: `${by} takes the group "${group}"`, id: `${by} ${group}` });
  if (endedBy !== undefined) {
    await cancel(handle, endedBy);
    return { state: 'waiting', holder, next: endedBy, ahead: Math.max(1, before.length) };
  }
  const next = before.at(-1);
  if (next === undefined) return { state: 'taken' };
  const waiting = { state: 'waiting', holder, next, ahead: before.length } as const;
  if (onConflict === 'queue') return waiting;
  const cancels = before.filter((other) => !later.includes(other));
  if (cancels.length === 0) return waiting;
  await Promise.all(cancels.map((other) => cancel(other, handle)));
  return { ...waiting, cancels };
}
