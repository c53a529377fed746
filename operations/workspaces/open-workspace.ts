/**
 * Making workspaces: a work tree of the project's repository, or a copy of the project with a repository of its own.
 *
 * - M1 The same step of the same run makes one, however often it is tried: its record is there before anything else.
 * - M2 What could not be made leaves nothing: no folder, no branch, no record.
 * - M3 Nothing of the project's own work tree changes.
 */
import { existsSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { commitAll } from '../../world/git/worktrees/commit-all.ts';
import { ownRepository, type OwnRepository, Unrecorded } from '../../world/git/repository/find-own.ts';
import { RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { addWorkTree, checkedOut, deleteBranch, removeWorkTree } from '../../world/git/worktrees/work-trees.ts';
import { Failure } from '../../world/failures/failures.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import { alone } from './alone.ts';
import { copyProject, removeCopy } from './copy-project.ts';
import {
  claim,
  forget,
  keepRecord,
  passOn,
  type Workspace,
  workspaceAt,
  workspacesOf,
  type WorkspaceRecord,
} from './records.ts';
import { gone, refused, taken } from './refusals.ts';

export interface WorkspaceAsked {
  isolationType: WorkspaceRecord['isolationType'];
  branch: string;
  /** What the branch begins with; HEAD of the project unless stated. */
  from?: string | undefined;
  /** Goes on with the branch, or the workspace, that there is. */
  reuse?: boolean | undefined;
}

/** The run that owns it, and the step that makes it. */
export interface Owner {
  handle: string;
  key: string;
  isRunning: (handle: string) => Promise<boolean>;
}

/** Fails where the project has no repository with a commit. */
export function repositoryOf(folder: string): OwnRepository {
  const finding = ((): OwnRepository | string => {
    try {
      return ownRepository(folder) ?? 'there is no git repository in it, nor around it';
    } catch (error) {
      if (error instanceof Unrecorded) return error.message;
      throw error;
    }
  })();
  if (typeof finding !== 'string') return finding;
  throw refused(
    `a workspace needs the git repository of ${folder}, and ${finding}; make one with "git init" and a commit`,
  );
}

export async function openWorkspace(project: string, asked: WorkspaceAsked, owner: Owner): Promise<Workspace> {
  const real = realOf(project);
  const before = (await workspacesOf(real)).find(({ handle, key }) => handle === owner.handle && key === owner.key);
  if (before !== undefined) {
    if (before.isReady && existsSync(before.root)) return before;
    await unmake(before);
  }
  return asked.isolationType === 'copy' ? openCopy(real, real, asked, owner) : openWorkTree(real, real, asked, owner);
}

/** The workspace of a nested run, forked from that of the run around it, whose changes are committed first. */
export async function forkWorkspace(root: string, name: string, owner: Owner): Promise<Workspace> {
  const parent = await workspaceAt(root);
  if (parent === null) throw refused(`${root} is no workspace of Sentinel, so none is forked from it`);
  if (!existsSync(parent.root)) throw gone(parent);
  const before = (await workspacesOf(parent.project)).find(
    ({ handle, key }) => handle === owner.handle && key === owner.key,
  );
  if (before !== undefined) {
    if (before.isReady && existsSync(before.root)) return before;
    await unmake(before);
  }
  const git = new RepositoryGit(repositoryOf(parent.folder));
  const { commit } = await alone(parent.folder, () =>
    commitAll(git, `Work before ${name}\n\nSentinel-Run: ${parent.handle}\n`),
  );
  const { isolationType } = parent;
  return alone(`${parent.project} forks`, async () => {
    const branch = await freeBranch(
      git,
      `${parent.branch}.${name.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}`,
      parent.project,
    );
    const asked = { isolationType, branch, from: commit };
    const made = await (isolationType === 'copy' ? openCopy : openWorkTree)(
      parent.project,
      parent.folder,
      asked,
      owner,
    );
    const forked = { ...made, parent: parent.branch };
    await keepRecord(forked);
    return forked;
  });
}

async function freeBranch(git: RepositoryGit, wished: string, project: string): Promise<string> {
  const ours = new Set((await workspacesOf(project)).map(({ branch }) => branch));
  for (let number = 1; ; number += 1) {
    const branch = number === 1 ? wished : `${wished}-${number}`;
    if (!ours.has(branch) && (await git.tipOf(branch)) === null) return branch;
  }
}

/** `source`: the folder whose repository it is made in. */
async function openWorkTree(project: string, source: string, asked: WorkspaceAsked, owner: Owner): Promise<Workspace> {
  const at = repositoryOf(source);
  const git = new RepositoryGit(at);
  const { branch, reuse = false } = asked;
  await checkName(git, branch);
  const left = reuse ? await takeOver(project, branch, owner) : null;
  if (left !== null) return left;
  const base = await baseOf(git, asked.from ?? 'HEAD', source);
  const isThere = (await git.tipOf(branch)) !== null;
  if (isThere) await refuseTaken(git, branch, { reuse, project });
  const below = await belowOf(at, source, project);
  const workspace = await claim({ ...recordFor(project, asked, owner), base, below });
  try {
    await addWorkTree(git, { path: workspace.folder, branch, base: isThere ? null : base });
    if (!existsSync(workspace.root))
      throw refused(
        `"${below}" is not in the commit ${base}, so a work tree of it has no such folder; commit it first`,
      );
    return await ready(workspace);
  } catch (error) {
    await removeWorkTree(git, workspace.folder);
    if (!isThere) await deleteBranch(git, branch).catch(() => undefined);
    await forget(workspace);
    throw isClash(error) ? taken(branch, `cannot be made: ${error.message}`) : error;
  }
}

async function openCopy(project: string, source: string, asked: WorkspaceAsked, owner: Owner): Promise<Workspace> {
  const { branch, reuse = false, from } = asked;
  const left = reuse ? await takeOver(project, branch, owner) : null;
  if (left !== null) return left;
  if (from !== undefined && source === project)
    throw refused('a copy holds the project as it is now; leave out "from", or use the isolationType "worktree"');
  const other = (await workspacesOf(project)).find((one) => one.branch === branch);
  if (other !== undefined) throw taken(branch, `is that of the workspace "${other.name}"; ${ANOTHER}`);
  const found = ownRepositoryOrNull(source);
  const below = found === null ? '' : await belowOf(found, source, project);
  const workspace = await claim({ ...recordFor(project, asked, owner), base: '', below });
  try {
    const base = await copyProject({
      source: found?.workTree ?? source,
      repository: found,
      to: workspace.folder,
      branch,
    });
    return await ready({ ...workspace, base });
  } catch (error) {
    await removeCopy(workspace.folder);
    await forget(workspace);
    throw error;
  }
}

function ownRepositoryOrNull(folder: string): OwnRepository | null {
  try {
    return ownRepository(folder);
  } catch (error) {
    if (error instanceof Unrecorded) return null;
    throw error;
  }
}

const recordFor = (
  project: string,
  { isolationType, branch }: WorkspaceAsked,
  { handle, key }: Owner,
): Omit<WorkspaceRecord, 'name' | 'version' | 'base' | 'below'> => ({
  isolationType,
  branch,
  parent: null,
  handle,
  key,
  project,
  madeAt: Date.now(),
  turn: 0,
  isReady: false,
  unresolved: [],
});

async function ready(workspace: Workspace): Promise<Workspace> {
  const made = { ...workspace, isReady: true };
  await keepRecord(made);
  return made;
}

/** Where the project lies in the work tree; a workspace that is forked lies as the one around it. */
async function belowOf({ workTree }: OwnRepository, source: string, project: string): Promise<string> {
  if (source !== project) return (await workspaceAt(source))?.below ?? '';
  return relative(workTree, project).split(sep).join('/');
}

const ANOTHER = 'name another branch, remove that workspace, or say "reuse": true once its run has ended';

async function checkName(git: RepositoryGit, branch: string): Promise<void> {
  const { exitCode } = await git.run(['check-ref-format', '--branch', branch], { codes: [0, 1, 128] });
  if (exitCode !== 0) throw refused(`"${branch}" is no name for a branch; use letters, digits, ".", "-", "_" and "/"`);
}

async function baseOf(git: RepositoryGit, name: string, source: string): Promise<string> {
  const commit = await git.commitOf(name);
  if (commit !== null) return commit;
  if (name === 'HEAD')
    throw refused(`the repository of ${source} has no commit yet, and a work tree begins with one; commit something`);
  throw refused(`"${name}" names no commit of the repository of ${source}; name a branch, a tag or a commit as "from"`);
}

async function refuseTaken(
  git: RepositoryGit,
  branch: string,
  { reuse, project }: { reuse: boolean; project: string },
): Promise<void> {
  const own = (await workspacesOf(project)).find((one) => one.branch === branch && existsSync(one.folder));
  if (own !== undefined)
    throw taken(branch, `is that of the workspace "${own.name}" of the run ${own.handle}; ${ANOTHER}`);
  const tree = await checkedOut(git, branch);
  if (tree !== null)
    throw taken(branch, `is checked out in ${tree.path}; name another, or switch that folder to another branch`);
  if (!reuse) throw taken(branch, 'exists already; name another, or say "reuse": true to go on with it');
}

/** A workspace with that branch which another run has left. */
async function takeOver(project: string, branch: string, owner: Owner): Promise<Workspace | null> {
  const left = (await workspacesOf(project)).find((one) => one.branch === branch);
  if (left === undefined) return null;
  if (left.handle !== owner.handle && (await owner.isRunning(left.handle)))
    throw taken(
      branch,
      `is that of the workspace "${left.name}", in which the run ${left.handle} works; wait for it, or name another`,
    );
  if (!left.isReady || !existsSync(left.root)) {
    await unmake(left);
    return null;
  }
  return (await passOn(left, owner)) ?? takeOver(project, branch, owner);
}

/** Takes away what is left of a workspace that was never ready, or is gone: no commit of it is lost. */
async function unmake(workspace: Workspace): Promise<void> {
  const { isolationType, folder, project, branch, base } = workspace;
  if (isolationType === 'copy') await removeCopy(folder);
  else {
    const git = new RepositoryGit(repositoryOf(project));
    await removeWorkTree(git, folder);
    if ((await git.tipOf(branch)) === base && !workspace.isReady) await deleteBranch(git, branch);
  }
  await forget(workspace);
}

const isClash = (error: unknown): error is Failure =>
  error instanceof Failure && /already exists|cannot lock ref|already (?:checked out|used)/.test(error.message);
