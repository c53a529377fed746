/** The repository that a project lies in: whose cycles wait for each other, and what is under way in it. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The folder with the nearest `.git`, from the project up; the project itself where there is none. Real paths. */
export function repositoryOf(project: string): string {
  const root = realpathSync(project);
  for (let at = root; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return root;
  }
}

/** Of work trees and submodules, `.git` is a file that says where it is. */
function gitFolderOf(root: string): string | null {
  const git = join(repositoryOf(root), '.git');
  const seen = statSync(git, { throwIfNoEntry: false });
  if (seen === undefined) return null;
  if (seen.isDirectory()) return git;
  const [, to] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? [];
  return to === undefined ? null : resolve(dirname(git), to.trim());
}

const UNFINISHED: readonly (readonly [mark: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['BISECT_LOG', 'a bisection'],
];

export function unfinishedIn(root: string): string | null {
  const git = gitFolderOf(root);
  return git === null ? null : (UNFINISHED.find(([mark]) => existsSync(join(git, mark)))?.[1] ?? null);
}

export const isRepository = (root: string): boolean => gitFolderOf(root) !== null;
