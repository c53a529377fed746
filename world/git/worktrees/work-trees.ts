/** Work trees of a repository: which there are, which branch each has checked out, how one comes and goes. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { realOf } from '../../own-programs/helper-programs.ts';
import { refOf, type RepositoryGit } from './repository-git.ts';

export interface WorkTree {
  /** Absolute. */
  path: string;
  commit: string | null;
  branch: string | null;
}

export async function workTreesOf(git: RepositoryGit): Promise<WorkTree[]> {
  const listed = await git.text(['worktree', 'list', '--porcelain', '-z']);
  return listed
    .split('\0\0')
    .map((entry) => new Map(entry.split('\0').map(wordAndRest)))
    .flatMap((entry) => {
      const path = entry.get('worktree');
      const branch = entry.get('branch');
      if (path === undefined) return [];
      return [{ path, commit: entry.get('HEAD') ?? null, branch: branch?.replace(/^refs\/heads\//, '') ?? null }];
    });
}

function wordAndRest(line: string): [string, string] {
  const at = line.indexOf(' ');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

/** The work tree that has the branch checked out, and is there. */
export async function checkedOut(git: RepositoryGit, branch: string): Promise<WorkTree | null> {
  const trees = await workTreesOf(git);
  return trees.find((tree) => tree.branch === branch && existsSync(tree.path)) ?? null;
}

/** A new work tree at `path`, with the branch: a new one that begins with the commit `base`, or the one that there is. */
export async function addWorkTree(
  git: RepositoryGit,
  { path, branch, base }: { path: string; branch: string; base: string | null },
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const what = base === null ? [path, branch] : ['--no-track', '-b', branch, path, base];
  await git.run(['worktree', 'add', '--quiet', ...what]);
}

/** Its folder and what the repository knows of it, be one of them gone already. What is in it is lost. */
export async function removeWorkTree(git: RepositoryGit, path: string): Promise<void> {
  const known = (await workTreesOf(git)).some((tree) => realOf(tree.path) === realOf(path));
  if (known) await git.run(['worktree', 'remove', '--force', '--force', path], { codes: [0, 128] });
  await rm(path, { recursive: true, force: true });
  await git.run(['worktree', 'prune', '--expire=now']);
}

export async function deleteBranch(git: RepositoryGit, branch: string): Promise<void> {
  const tip = await git.tipOf(branch);
  if (tip !== null) await git.run(['update-ref', '-d', refOf(branch), tip]);
}
