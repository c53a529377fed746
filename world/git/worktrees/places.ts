/** Where the workspaces of this host are, and which repository stands behind one. */
import { join } from 'node:path';
import { cacheFolder } from '../../../services/home/home-records.ts';
import { isBelow, realOf } from '../../own-programs/helper-programs.ts';
import { ownRepository, type OwnRepository, Unrecorded } from '../repository/find-own.ts';

export const workspacesFolder = (): string => join(cacheFolder(), 'workspaces');

/** `root`: a real path. Null where it is in no workspace, or in one that has its repository within itself. */
export function repositoryBehind(root: string): OwnRepository | null {
  if (!isBelow(root, realOf(workspacesFolder()))) return null;
  try {
    const found = ownRepository(root);
    return found === null || isBelow(found.gitFolder, found.workTree) ? null : found;
  } catch (error) {
    if (error instanceof Unrecorded) return null;
    throw error;
  }
}
