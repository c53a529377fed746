/** Places of runs in the groups that their definitions name, and of steps in the leases that their commands ask for, as people see them. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';

/** `behind`: the run that has the group, where another one does; `ahead`: how many are before this one. */
export interface GroupReport {
  name: string;
  state: 'taken' | 'waiting';
  behind: string | null;
  ahead: number;
}

export function groupReport({ name, isTaken, holders, ahead }: PlaceInLease): GroupReport {
  return { name, state: isTaken ? 'taken' : 'waiting', behind: isTaken ? null : (holders[0] ?? null), ahead };
}

/** By handle, of those that go on. */
export async function groupsOf(
  { leases }: Pick<Store, 'leases'>,
  handles: readonly string[],
): Promise<ReadonlyMap<string, GroupReport>> {
  const places = (await leases.placesOf(handles)).filter(({ kind }) => kind === 'group');
  return new Map(places.map((place) => [place.handle, groupReport(place)]));
}

/** `behind`: the runs that have a place, where the step waits for one; `ahead`: how many steps wait before it. */
export interface LeaseReport {
  step: string;
  name: string;
  scope: 'project' | 'installation';
  capacity: number;
  state: 'taken' | 'waiting';
  behind: string[];
  ahead: number;
}

export const leaseReports = (places: readonly PlaceInLease[]): LeaseReport[] =>
  places.flatMap(({ step, name, project, capacity, isTaken, holders, ahead }) =>
    step === null
      ? []
      : {
          step,
          name,
          scope: project === null ? 'installation' : 'project',
          capacity,
          state: isTaken ? 'taken' : 'waiting',
          behind: isTaken ? [] : holders,
          ahead: isTaken ? 0 : ahead - holders.length,
        },
  );
