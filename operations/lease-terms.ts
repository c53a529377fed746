/** What a command asks for a lease with, and what it gets (leases.ts). */
export interface LeaseTerms {
  /** How many places it has; the latest word counts. */
  capacity: number;
  /** Who shares it: the steps of the project, which is the default, or of all projects of the installation. */
  scope?: 'project' | 'installation';
}

/** Leaves the place; again, it does nothing. */
export type LeaveLease = () => Promise<void>;

/** The places of a step. */
export interface Leases {
  /** `of`: the command that asks. */
  take(of: string, name: string, terms: LeaseTerms): Promise<LeaveLease>;
}
