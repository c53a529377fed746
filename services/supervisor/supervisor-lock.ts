/**
 * Who keeps the services of a home, who waits to take them over, and whose turn it is to change them: one
 * process each.
 */
import { join } from 'node:path';
import type { ProcessIdentity } from '../config/services-state.ts';
import { homeStanding } from '../home/own-home.ts';
import { acquireLock, holderOf, type ProcessLock } from '../processes/process-lock.ts';

const keeperFile = (home: string): string => join(home, 'supervisor.lock');
const successorFile = (home: string): string => join(home, 'supervisor.next');
const turnFile = (home: string): string => join(home, 'services.turn');

/** The supervisor's for as long as it lives. */
export const acquireSupervisorLock = (home: string): Promise<ProcessLock | null> => acquireLock(keeperFile(home));

export const lockHolder = (home: string): ProcessIdentity | null => ownHolder(home, keeperFile(home));

/** A supervisor's that waits for the one before it to let go. */
export const acquireSuccession = (home: string): Promise<ProcessLock | null> => acquireLock(successorFile(home));

export const successorOf = (home: string): ProcessIdentity | null => ownHolder(home, successorFile(home));

/** What a home names that was not made here is nobody to signal. */
const ownHolder = (home: string, path: string): ProcessIdentity | null =>
  homeStanding(home) === 'own' ? holderOf(path) : null;

/**
 * A verb's from when it begins to start services or to change them over until it has seen them serve. Two
 * shells with different settings take turns: each gets what it asked for, and neither undoes it before the
 * other has seen it.
 */
export const acquireTurn = (home: string): Promise<ProcessLock | null> => acquireLock(turnFile(home));
