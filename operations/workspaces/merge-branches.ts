/**
 * Merging branches into that of a workspace, or into one that is named.
 *
 * - B1 A branch is merged as a whole or not at all: what is in conflict comes back as data, and neither the branch nor
 *      any work tree holds anything of it.
 * - B2 A branch that a person has checked out moves only where it is named, and only over a clean work tree.
 * - B3 A merge is a commit with both sides as parents, put at the tip of the branch only if that is where it was: of two
 *      that merge at once, one begins again.
 * - B4 A conflict that was told is resolved where its passages are gone from the file in the workspace, or where somebody
 *      says that the file is as it is to be. Then the merge has that file, and all else from both sides.
 */
import { existsSync } from 'node:fs';
import { changedPaths, commitAll } from '../../world/git/worktrees/commit-all.ts';
import {
  commitMerge,
  type Conflict,
  entryIn,
  type FileEntry,
  mergeTrees,
  textOfBlob,
  treeWith,
} from '../../world/git/worktrees/merge-commits.ts';
import { refOf, RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { checkedOut } from '../../world/git/worktrees/work-trees.ts';
import { Failure } from '../../world/failures/failures.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import { alone } from './alone.ts';
import { fetchCommit } from './copy-project.ts';
import { repositoryOf } from './open-workspace.ts';
import { keepRecord, type Unresolved, type Workspace, workspacesOf } from './records.ts';
import { notFound, refused, someOf } from './refusals.ts';

/** A branch, and the work tree that has it checked out. */
export interface Target {
  branch: string;
  /** Of that work tree; where there is none, of the project. */
  git: RepositoryGit;
  isCheckedOut: boolean;
  /** What of it is in no commit is committed first. */
  workspace: Workspace | null;
}

export type Source = { branch: string; commit: string };

export interface Merging {
  sources: readonly Source[];
  /** Paths that are as they are to be, whatever was in conflict in them. */
  resolved?: readonly string[];
  /** The run that merges. */
  by: string;
}

export interface Merged {
  /** Of the target, from then on. */
  commit: string;
  merged: Source[];
  conflicts: (Conflict & { branch: string })[];
}

const triesMax = 20;

/** The branch of the workspace that a run works in, or the one that is named. */
export async function targetOf(
  project: string,
  workspace: Workspace | null,
  into: string | undefined,
): Promise<Target> {
  if (workspace !== null) {
    const git = new RepositoryGit(repositoryOf(workspace.folder));
    const own = await git.branch();
    if (into === undefined && own === null)
      throw refused(
        `the workspace "${workspace.name}" has no branch checked out but a commit; switch it to a branch, or name one as "into"`,
      );
    const branch = into ?? own ?? '';
    if (branch === own) return { branch, git, isCheckedOut: true, workspace };
  }
  if (into === undefined)
    throw refused(
      'the run works in no workspace, so nothing says what is merged into; name a branch as "into", or make a workspace first ("workspace/create")',
    );
  const git = new RepositoryGit(repositoryOf(project));
  if ((await git.tipOf(into)) === null)
    throw notFound(`there is no branch "${into}" to merge into; make it, or name another`);
  const tree = await checkedOut(git, into);
  if (tree === null) return { branch: into, git, isCheckedOut: false, workspace: null };
  const at = new RepositoryGit(repositoryOf(realOf(tree.path)));
  const dirty = await changedPaths(at, { untracked: false });
  if (dirty.length > 0) throw dirtyTree(into, tree.path, dirty);
  return { branch: into, git: at, isCheckedOut: true, workspace: null };
}

const dirtyTree = (branch: string, path: string, dirty: readonly string[]): Failure =>
  new Failure(
    'WORKSPACE_DIRTY',
    `"${branch}" is checked out in ${path}, where files differ from every commit (${someOf(dirty)}); commit or stash them there, and merge again`,
    { details: { path, files: dirty.slice(0, 100) } },
  );

/** The commits of the branches, those of copies brought into the repository of the target. */
export async function sourcesOf(git: RepositoryGit, project: string, branches: readonly string[]): Promise<Source[]> {
  const workspaces = await workspacesOf(project);
  const sources: Source[] = [];
  for (const branch of branches) {
    const copy = workspaces.find(
      (one) => one.isolationType === 'copy' && one.branch === branch && existsSync(one.folder),
    );
    const commit = copy === undefined ? await git.tipOf(branch) : await fromCopy(git, copy);
    if (commit === null)
      throw notFound(
        `there is no branch "${branch}" in ${git.at.workTree}, and no workspace of that branch; the branches are listed by "workspace/list" and "code/git"`,
      );
    sources.push({ branch, commit });
  }
  return sources;
}

async function fromCopy(git: RepositoryGit, { folder, branch }: Workspace): Promise<string | null> {
  const copy = new RepositoryGit(repositoryOf(folder));
  const tip = await copy.tipOf(branch);
  if (tip !== null && copy.at.commonFolder !== git.at.commonFolder) await fetchCommit(git, copy.at.commonFolder, tip);
  return tip;
}

export function mergeInto(target: Target, merging: Merging): Promise<Merged> {
  return alone(`${target.git.at.commonFolder} ${target.branch}`, async () => {
    if (target.workspace !== null) await commitAll(target.git, `Work before a merge\n\nSentinel-Run: ${merging.by}\n`);
    const merged: Merged = { commit: '', merged: [], conflicts: [] };
    for (const source of merging.sources) {
      const conflicts = await mergeOne(target, source, merging);
      if (conflicts.length === 0) merged.merged.push(source);
      else merged.conflicts.push(...conflicts.map((conflict) => ({ branch: source.branch, ...conflict })));
    }
    if (merged.merged.length > 0) await lookAgain(target);
    return { ...merged, commit: await tipOf(target) };
  });
}

async function tipOf({ git, branch }: Target): Promise<string> {
  const tip = await git.tipOf(branch);
  if (tip === null) throw notFound(`the branch "${branch}" was deleted meanwhile`);
  return tip;
}

/** What is in conflict and was not resolved; nothing was merged then. */
async function mergeOne(target: Target, { branch, commit: theirs }: Source, merging: Merging): Promise<Conflict[]> {
  const { git } = target;
  for (let tried = 1; ; tried += 1) {
    const ours = await tipOf(target);
    if (await git.isAncestor(theirs, ours)) {
      await setUnresolved(target, branch, null);
      return [];
    }
    const { tree, conflicts } = await mergeTrees(git, ours, theirs);
    const told = unresolvedOf(target, branch, theirs);
    const files = new Map<string, FileEntry | null>();
    const open: Conflict[] = [];
    for (const conflict of conflicts) {
      const now = await entryIn(git, ours, conflict.path);
      if (await isResolved(git, conflict, now, { told, resolved: merging.resolved ?? [] }))
        files.set(conflict.path, now);
      else open.push(conflict);
    }
    if (open.length > 0) {
      const found = await unresolved(git, { branch, commit: theirs }, ours, open);
      // Passages stay those that were told first: what was done since counts.
      await setUnresolved(target, branch, { ...found, files: { ...found.files, ...told?.files } });
      return open;
    }
    const message = `Merge branch '${branch}' into ${target.branch}\n\nSentinel-Run: ${merging.by}\n`;
    const whole = await treeWith(git, tree, files);
    const made = await commitMerge(git, { tree: whole, ours, theirs, message });
    if (await moveTo(target, { from: ours, to: made })) {
      await setUnresolved(target, branch, null);
      return [];
    }
    if (tried === triesMax)
      throw new Failure(
        'GIT_FAILED',
        `"${target.branch}" moved each time that something was merged into it; try again`,
      );
  }
}

/** Whether the branch was where it is to be moved from. */
async function moveTo(
  { git, branch, isCheckedOut }: Target,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  if (!isCheckedOut) {
    const { exitCode } = await git.run(['update-ref', refOf(branch), to, from], { codes: [0, 1, 128] });
    return exitCode === 0;
  }
  const args = ['merge', '--ff-only', '--quiet', '--no-overwrite-ignore', to];
  const { exitCode, stderr, stdout } = await git.run(args, { codes: [0, 1, 128] });
  if (exitCode === 0) return true;
  if (/not possible to fast-forward|diverg/i.test(stderr)) return false;
  throw new Failure(
    'WORKSPACE_DIRTY',
    `"${branch}" is checked out in ${git.at.workTree}, and git does not move it there: ${(stderr || stdout).trim().slice(0, 2000)}; move these files away, and merge again`,
  );
}

const unresolvedOf = ({ workspace }: Target, branch: string, commit: string): Unresolved | null =>
  workspace?.unresolved.find((one) => one.branch === branch && one.commit === commit) ?? null;

async function setUnresolved({ workspace }: Target, branch: string, one: Unresolved | null): Promise<void> {
  if (workspace === null) return;
  const others = workspace.unresolved.filter((other) => other.branch !== branch);
  if (one === null && others.length === workspace.unresolved.length) return;
  workspace.unresolved = one === null ? others : [...others, one];
  await keepRecord(workspace);
}

async function unresolved(
  git: RepositoryGit,
  { branch, commit }: Source,
  ours: string,
  conflicts: readonly Conflict[],
): Promise<Unresolved> {
  const files: Unresolved['files'] = {};
  for (const { path, hunks } of conflicts)
    files[path] = {
      blob: (await entryIn(git, ours, path))?.blob ?? null,
      passages: hunks.map((hunk) => hunk.ours).filter((passage) => passage.trim() !== ''),
    };
  return { branch, commit, files };
}

/** Only text that was in conflict says by itself that it is not any more. */
async function isResolved(
  git: RepositoryGit,
  { path, kind }: Conflict,
  now: FileEntry | null,
  { told, resolved }: { told: Unresolved | null; resolved: readonly string[] },
): Promise<boolean> {
  if (told === null || !Object.hasOwn(told.files, path)) return false;
  if (resolved.includes(path)) return true;
  const before = told.files[path];
  const isText = kind === 'both-changed' || kind === 'both-added';
  if (before === undefined || now === null || now.blob === before.blob || !isText) return false;
  const text = await textOfBlob(git, now.blob);
  return before.passages.every((passage) => !text.includes(passage));
}

/** What was merged meanwhile may have changed files of other conflicts, which nobody has resolved by that. */
async function lookAgain(target: Target): Promise<void> {
  for (const { branch, commit } of target.workspace?.unresolved ?? []) {
    const ours = await tipOf(target);
    const { conflicts } = await mergeTrees(target.git, ours, commit);
    await setUnresolved(target, branch, await unresolved(target.git, { branch, commit }, ours, conflicts));
  }
}
