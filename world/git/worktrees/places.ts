/** Which repository stands behind a workspace. */
import { workspacesFolder } from '../../../services/home/home-records.ts';
import { isBelow, realOf } from '../../own-programs/helper-programs.ts';
import { ownRepository, type OwnRepository, Unrecorded } from '../repository/find-own.ts';

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
