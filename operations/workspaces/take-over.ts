/**
 * The workspaces of a run in which another one goes on, that was forked from it.
 *
 * - T1 Of a run that has ended, the workspace is taken over as it is; its branch goes on.
 * - T2 Of a run that goes on, or whose workspace another fork has taken over, it is forked: nobody works where another does.
 * - T3 Of one that was removed by hand, a new folder is made from its branch. What only the folder held is lost.
 */
import { existsSync } from 'node:fs';
import { RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { forkWorkspace, openWorkspace, type Owner, repositoryOf } from './open-workspace.ts';
import { passOn, type Workspace, workspaceAt } from './records.ts';
import { gone, removed } from './refusals.ts';

const FORK = 'fork';

/** `root`: where the run `of` worked. The folder in which the owner works from then on. */
export async function takeOverWorkspace(root: string, of: string, owner: Owner): Promise<string> {
  const left = await workspaceAt(root);
  if (left === null) throw removed(root, of);
  if (left.handle === owner.handle) return left.root;
  const isTaken = await owner.isRunning(left.handle);
  if (!existsSync(left.root)) {
    if (isTaken) throw gone(left);
    return (await reopen(left, owner)).root;
  }
  if (isTaken) return (await forkWorkspace(root, FORK, owner)).root;
  return (await passOn(left, owner))?.root ?? takeOverWorkspace(root, of, owner);
}

async function reopen(left: Workspace, owner: Owner): Promise<Workspace> {
  const { project, branch, isolationType } = left;
  if (isolationType === 'copy') throw gone(left);
  const git = new RepositoryGit(repositoryOf(project));
  if ((await git.tipOf(branch)) === null) throw gone(left);
  return openWorkspace(project, { isolationType, branch, reuse: true }, owner);
}
