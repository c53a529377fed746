/** A run's turn in the group that its definition names; with `cancel`, those before it are told to end. */
import type { GroupAsked } from '../../interpreter/contract.ts';
import type { GroupTurn } from '../../interpreter/host.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';

interface Parts {
  store: Pick<Store, 'groups'>;
  /** Null: the run has ended. */
  runs: { control(handle: string, verb: 'cancel', said: { reason: string; id: string }): Promise<unknown> };
}

export async function askForGroup(
  { store, runs }: Parts,
  { handle, project }: RunContext,
  { group, onConflict, since }: GroupAsked,
): Promise<GroupTurn> {
  const whenHeld = onConflict === 'skip' ? 'leave' : 'wait';
  const { before, holder } = await store.groups.ask({ handle, project, group, since, whenHeld });
  const next = before?.at(-1);
  if (before === null || next === undefined) return { state: 'taken' };
  if (onConflict === 'skip') return { state: 'skipped', holder: holder ?? before[0] ?? next };
  const waiting = { state: 'waiting', holder, next, ahead: before.length } as const;
  if (onConflict === 'queue') return waiting;
  const reason = `${handle} takes the group "${group}"`;
  await Promise.all(before.map((other) => runs.control(other, 'cancel', { reason, id: `${handle} ${group}` })));
  return { ...waiting, cancels: before };
}
