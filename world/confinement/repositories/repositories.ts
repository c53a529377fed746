/**
 * What is a repository in a project, whatever its name: the folders that version control calls so, what a link or a file
 * of that name leads to, and folders that git itself takes for repositories without a work tree (`git init --bare`).
 */
import { existsSync, type Dirent } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { plainName } from '../../../language/rights/secret-files.ts';
import { plainText } from '../../files/plain-file.ts';
import { isBelow, realOf } from '../../own-programs/helper-programs.ts';

/** Configuration and hooks in them are programs that run later, and all that was committed is in them. */
export const REPOSITORIES: readonly string[] = ['.git', '.hg', '.jj', '.svn'];

export const isRepositoryName = (name: string): boolean => REPOSITORIES.includes(plainName(name));

/** As git knows one, with or without a work tree. */
const MARKS = ['HEAD', 'objects', 'refs'];

export const holdsGit = (entries: readonly Pick<Dirent, 'name'>[]): boolean =>
  MARKS.every((mark) => entries.some(({ name }) => name === mark));

export const isGitFolder = (folder: string): boolean => MARKS.every((mark) => existsSync(join(folder, mark)));

/** The folders in the project that a link or a file of such a name leads to: the repository, and the one it shares. */
export function leadsTo(root: string, place: string, isLink: boolean): string[] {
  const named = isLink ? place : /^gitdir: (.+)/.exec(plainText(place) ?? '')?.[1]?.trim();
  if (named === undefined) return [];
  const folder = realOf(resolve(dirname(place), named));
  const common = plainText(join(folder, 'commondir'))?.trim();
  const folders = common === undefined ? [folder] : [folder, realOf(resolve(folder, common))];
  return folders.filter((path) => path !== root && isBelow(path, root) && looksLikeOne(path));
}

/** A step could lead to any folder otherwise, and so keep it from the steps after it. */
const looksLikeOne = (folder: string): boolean =>
  isGitFolder(folder) || ['store', 'repo', 'wc.db'].some((name) => existsSync(join(folder, name)));

/** What git itself keeps in a repository, as it names it; a step may have put other files beside. */
const OF_GIT =
  /^(?:HEAD|[A-Z]+_HEAD|index|packed-refs|shallow|refs\/.+|logs\/.+|objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/.+|info\/.+))$/;

/** Of the paths in a folder, those that belong to repositories without a name of their own. */
export function ofRepositories(folder: string, paths: readonly string[]): (path: string) => boolean {
  const found = paths
    .filter((path) => path.endsWith('/HEAD') && isGitFolder(join(folder, dirname(path))))
    .map((path) => `${dirname(path)}/`);
  return (path) => found.some((place) => path.startsWith(place) && OF_GIT.test(path.slice(place.length)));
}
