/** Taking workspaces away: as somebody asks, and what runs have left behind. */
import { existsSync } from 'node:fs';
import { changedPaths } from '../../world/git/worktrees/commit-all.ts';
import { RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { deleteBranch, removeWorkTree } from '../../world/git/worktrees/work-trees.ts';
import { Failure } from '../../world/failures/failures.ts';
import { removeCopy } from './copy-project.ts';
import { commitWork } from './end-workspace.ts';
import { repositoryOf } from './open-workspace.ts';
import { allWorkspaces, forget, type Workspace } from './records.ts';
import { someOf } from './refusals.ts';

export interface Removing {
  /** Also what is nowhere else. */
  force?: boolean | undefined;
  keepBranch?: boolean | undefined;
}

export interface Removed {
  /** Where the branch was. */
  commit: string | null;
  isBranchDeleted: boolean;
}

/** What of a workspace would be lost with it. */
export interface Standing {
  isThere: boolean;
  /** The tip of its branch. */
  commit: string | null;
  uncommitted: string[];
  /** Commits that are on no other branch. */
  unmerged: number;
}

export async function standingOf(workspace: Workspace): Promise<Standing> {
  const isThere = existsSync(workspace.folder);
  if (!isThere && workspace.isolationType === 'copy') return { isThere, commit: null, uncommitted: [], unmerged: 0 };
  const git = gitOf(workspace, isThere);
  const commit = await git.tipOf(workspace.branch);
  const uncommitted = isThere ? await changedPaths(git) : [];
  return { isThere, commit, uncommitted, unmerged: commit === null ? 0 : await unmergedOf(workspace, git, commit) };
}

const gitOf = ({ folder, project }: Workspace, isThere: boolean): RepositoryGit =>
  new RepositoryGit(repositoryOf(isThere ? folder : project));

async function unmergedOf(workspace: Workspace, git: RepositoryGit, commit: string): Promise<number> {
  const { branch, base, isolationType } = workspace;
  if (isolationType === 'worktree')
    return Number(
      await git.text([
        'rev-list',
        '--count',
        commit,
        '--not',
        `--exclude=${branch}`,
        '--branches',
        '--tags',
        '--remotes',
      ]),
    );
  const project = projectGit(workspace);
  if ((await project?.commitOf(commit)) === commit && (await isReachable(project, commit))) return 0;
  return Number(await git.text(['rev-list', '--count', `${base}..${commit}`]));
}

function projectGit({ project }: Workspace): RepositoryGit | null {
  try {
    return new RepositoryGit(repositoryOf(project));
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

async function isReachable(git: RepositoryGit | null, commit: string): Promise<boolean> {
  return git !== null && (await git.text(['for-each-ref', '--count=1', `--contains=${commit}`, 'refs/heads'])) !== '';
}

/** Fails with `WORKSPACE_UNMERGED` where something would be lost, unless it is forced. */
export async function removeWorkspace(
  workspace: Workspace,
  { force = false, keepBranch = false }: Removing,
): Promise<Removed> {
  const { commit, uncommitted, unmerged } = await standingOf(workspace);
  const isLost = workspace.isolationType === 'copy' || !keepBranch;
  if (!force && uncommitted.length > 0)
    throw unsaved(workspace, `${uncommitted.length} files in it are in no commit (${someOf(uncommitted)})`);
  if (!force && isLost && unmerged > 0)
    throw unsaved(workspace, `${unmerged} commits of its branch "${workspace.branch}" are on no other branch`);
  if (workspace.isolationType === 'copy') await removeCopy(workspace.folder);
  else await removeTree(workspace, keepBranch);
  await forget(workspace);
  return { commit, isBranchDeleted: !keepBranch };
}

async function removeTree(workspace: Workspace, keepBranch: boolean): Promise<void> {
  const git = new RepositoryGit(repositoryOf(workspace.project));
  await removeWorkTree(git, workspace.folder);
  if (!keepBranch) await deleteBranch(git, workspace.branch);
}

const unsaved = ({ name, isolationType }: Workspace, finding: string): Failure =>
  new Failure(
    'WORKSPACE_UNMERGED',
    `the workspace "${name}" is not removed: ${finding}; merge its branch${isolationType === 'copy' ? '' : ', keep it with "keepBranch": true'}, or say "force": true to lose that`,
  );

const dayMs = 86_400_000;
/** So long after its run has ended a workspace is left as it is. */
export const KEPT_DAYS = 7;

/**
 * Of runs that have ended: what is in no commit is committed, and the folder goes. The branch stays, but for one that was
 * made for a nested run and is merged. A copy stays while anything of it is nowhere else.
 */
export async function sweepWorkspaces(
  endedAt: (handle: string) => Promise<number | null>,
  now = Date.now(),
): Promise<void> {
  for (const workspace of await allWorkspaces()) {
    const ended = await endedAt(workspace.handle);
    if (ended === null || now - ended < KEPT_DAYS * dayMs) continue;
    await sweepOne(workspace).catch(() => undefined);
  }
}

async function sweepOne(workspace: Workspace): Promise<void> {
  const { folder, handle, isolationType, parent } = workspace;
  if (existsSync(folder)) await commitWork(workspace, { title: 'Work that its run has left', by: handle });
  const { unmerged } = await standingOf(workspace);
  if (unmerged > 0 && isolationType === 'copy') return;
  await removeWorkspace(workspace, { keepBranch: isolationType === 'worktree' && (parent === null || unmerged > 0) });
}
