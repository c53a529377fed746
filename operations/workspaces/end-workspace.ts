/** The end of the run that owns a workspace: all that it did is in commits, and what it resolved is merged. */
import { existsSync } from 'node:fs';
import { commitAll } from '../../world/git/worktrees/commit-all.ts';
import { refOf, RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { alone } from './alone.ts';
import { mergeInto } from './merge-branches.ts';
import { repositoryOf } from './open-workspace.ts';
import { type Workspace, workspaceAt } from './records.ts';
import { gone } from './refusals.ts';

/** What the result of the run says of it. */
export type WorkspaceEnd = {
  workspace: string;
  branch: string;
  commit: string;
  /** Paths that are in no commit: files with secrets by their names, repositories in it. */
  uncommitted?: string[];
  /** Branches whose conflicts nobody has resolved. */
  unmerged?: string[];
};

/** Null where the folder is no workspace, or is one no longer. `title`: of the commit. */
export async function endWorkspace(
  root: string,
  { title, by }: { title: string; by: string },
): Promise<WorkspaceEnd | null> {
  const workspace = await workspaceAt(root);
  if (workspace === null) return null;
  if (!existsSync(workspace.root)) throw gone(workspace);
  const { branch, leftOut } = await commitWork(workspace, { title, by });
  const git = new RepositoryGit(repositoryOf(workspace.folder));
  const sources = workspace.unresolved.map(({ branch: one, commit }) => ({ branch: one, commit }));
  const target = { branch, git, isCheckedOut: true, workspace };
  const merged = sources.length === 0 ? null : await mergeInto(target, { sources, by });
  const unmerged = [...new Set(merged?.conflicts.map((conflict) => conflict.branch))];
  return {
    workspace: workspace.name,
    branch,
    commit: await git.text(['rev-parse', '--verify', 'HEAD']),
    ...(leftOut.length === 0 ? {} : { uncommitted: leftOut.slice(0, shownMax) }),
    ...(unmerged.length === 0 ? {} : { unmerged }),
  };
}

const shownMax = 100;

/** All of it, on a branch: where a step has checked out a commit itself, on a new one. */
export function commitWork(
  workspace: Workspace,
  { title, by }: { title: string; by: string },
): Promise<{ branch: string; leftOut: string[] }> {
  return alone(workspace.folder, async () => {
    const git = new RepositoryGit(repositoryOf(workspace.folder));
    const { leftOut } = await commitAll(git, `${title}\n\nSentinel-Run: ${by}\n`);
    return { branch: (await git.branch()) ?? (await branchHere(git, workspace.branch)), leftOut };
  });
}

async function branchHere(git: RepositoryGit, wished: string): Promise<string> {
  let branch = wished;
  for (let number = 2; (await git.tipOf(branch)) !== null; number += 1) branch = `${wished}-${number}`;
  await git.run(['update-ref', refOf(branch), 'HEAD']);
  await git.run(['symbolic-ref', 'HEAD', refOf(branch)]);
  return branch;
}
