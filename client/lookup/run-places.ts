/** Places of runs in the groups that their definitions name and among those of their persona, and of steps in the leases that their commands ask for, as people see them. */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';

/** `behind`: the run that has the group, where another one does; `ahead`: how many are before this one. */
export interface GroupReport {
  name: string;
  state: 'taken' | 'waiting';
  behind: string | null;
  ahead: number;
}

function groupReport({ name, isTaken, holders, ahead }: PlaceInLease): GroupReport {
  return { name, state: isTaken ? 'taken' : 'waiting', behind: isTaken ? null : (holders[0] ?? null), ahead };
}

/** Of a run whose persona has so many `places`. `ahead`: how many wait before this one. */
export interface PlaceReport {
  persona: string;
  places: number;
  state: 'taken' | 'waiting';
  ahead: number;
}

function placeReport({ name, capacity, isTaken, ahead, holders }: PlaceInLease): PlaceReport {
  return {
    persona: name,
    places: capacity,
    state: isTaken ? 'taken' : 'waiting',
    ahead: isTaken ? 0 : ahead - holders.length,
  };
}

/** What a run has or waits for. */
export interface RunPlaces {
  group: GroupReport | null;
  place: PlaceReport | null;
  /** Until when its persona has used what it may use in a day, in milliseconds since the epoch, where the run waits for that. */
  budgetAt: number | null;
}

export function placesIn(places: readonly PlaceInLease[], budgetAt: number | null = null): RunPlaces {
  const group = places.find(({ kind }) => kind === 'group');
  const place = places.find(({ kind }) => kind === 'persona');
  return {
    group: group === undefined ? null : groupReport(group),
    place: place === undefined ? null : placeReport(place),
    budgetAt,
  };
}

/** By handle, of those that go on and have or wait for something. */
export async function placesOfRuns(
  { leases, personaDays }: Pick<Store, 'leases' | 'personaDays'>,
  handles: readonly string[],
): Promise<ReadonlyMap<string, RunPlaces>> {
  const [places, days] = await Promise.all([leases.placesOf(handles), personaDays.waits(handles)]);
  const all = places.filter(({ step }) => step === null);
  const byRun = new Map<string, PlaceInLease[]>();
  for (const place of all) byRun.set(place.handle, [...(byRun.get(place.handle) ?? []), place]);
  const waiting = [...byRun.keys(), ...days.keys()];
  return new Map(waiting.map((handle) => [handle, placesIn(byRun.get(handle) ?? [], days.get(handle) ?? null)]));
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
