/**
 * The place of a run among those of its persona that are at work. How many there are is what a person has set by now.
 * Who leaves its place tells the runs whose turn it is: a worker that is lost before is followed by another attempt.
 */
import type { PlaceAsked } from '../../interpreter/contract.ts';
import type { PlaceTurn } from '../../interpreter/host.ts';
import type { RunPort } from '../../operations/command.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import { placesOf } from '../../prisma/store/contract/persona-contract.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export async function askForPlace(
  { personaLimits, leases, runs, events }: Pick<Store, 'personaLimits' | 'leases' | 'runs' | 'events'>,
  { handle, persona }: RunContext,
  { seq }: PlaceAsked,
): Promise<PlaceTurn> {
  // An attempt that was lost has walked on to the end: what it recorded since is not so.
  if (((await runs.find(handle))?.finishedAt ?? null) !== null) await events.takeBack(handle, seq + 1, 0);
  const { places = null } = (await personaLimits.of(persona)) ?? {};
  if (places === null) return { state: 'taken' };
  crashPoint('place.asking', { handle });
  const { before, holder } = await leases.ask({ ...placesOf(persona), handle, capacity: places, whenHeld: 'wait' });
  crashPoint('place.answered', { handle });
  return before === null
    ? { state: 'taken' }
    : { state: 'waiting', holder, ahead: Math.max(0, before.length - places) };
}

export async function leavePlace(
  { store, runs }: { store: Pick<Store, 'leases'>; runs: Pick<RunPort, 'wake'> },
  { handle, persona }: RunContext,
): Promise<null> {
  const next = await store.leases.leave(placesOf(persona), handle);
  crashPoint('place.left', { handle });
  await Promise.all(next.map((other) => runs.wake(other)));
  return null;
}
