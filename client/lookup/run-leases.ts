/** Places of steps in leases that their commands ask for, as people see them. */
import type { PlaceInLease } from '../../prisma/store/contract/lease-contract.ts';

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
