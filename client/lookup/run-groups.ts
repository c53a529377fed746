/** Places of runs in the groups that their definitions name, as people see them. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlaceInGroup } from '../../prisma/store/contract/group-contract.ts';

/** `behind`: the run that has the group, where another one does; `ahead`: how many are before this one. */
export interface GroupReport {
  name: string;
  state: 'taken' | 'waiting';
  behind: string | null;
  ahead: number;
}

export function groupReport({ group, isTaken, holder, ahead }: PlaceInGroup): GroupReport {
  return { name: group, state: isTaken ? 'taken' : 'waiting', behind: isTaken ? null : holder, ahead };
}

/** By handle, of those that go on. */
export async function groupsOf(
  { groups }: Pick<Store, 'groups'>,
  handles: readonly string[],
): Promise<ReadonlyMap<string, GroupReport>> {
  return new Map((await groups.placesOf(handles)).map((place) => [place.handle, groupReport(place)]));
}
