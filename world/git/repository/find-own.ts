/**
 * The git repository of a project, found as git finds it and without git.
 *
 * - R1 Nothing of it is read through a link: what is found is a real path, and is opened name by name.
 * - R2 What a step could have put there to lead elsewhere is no repository of the project: a `.git` that is a link, a
 *      file of that name that leads to a repository which does not know this work tree, a folder that shares what
 *      another has, and one that belongs to another user.
 */
import { lstatSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isGitFolder } from '../../confinement/repositories/repositories.ts';
import { isBelow, realOf } from '../../own-programs/helper-programs.ts';
import { plainText } from '../../files/plain-file.ts';

/** Real paths. */
export interface OwnRepository {
  workTree: string;
  /** Of this work tree: HEAD, index. */
  gitFolder: string;
  /** What all its work trees share: refs. */
  commonFolder: string;
}

/** Why what moves in a repository is not recorded, as the second half of a sentence. */
export class Unrecorded extends Error {
  override readonly name = 'Unrecorded';
}

/** `project`: its real path. Null where there is none. Throws `Unrecorded`. */
export function ownRepository(project: string): OwnRepository | null {
  const { dev } = statSync(project);
  for (let at = project; statSync(at).dev === dev; at = dirname(at)) {
    const place = join(at, '.git');
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) throw new Unrecorded(`${place} is a link`);
    if (found?.isFile() === true) return ofOwner(linked(at, place), project);
    if (found?.isDirectory() === true && isGitFolder(place)) return ofOwner(whole(at, place), project);
    if (at === dirname(at)) return null;
  }
  return null;
}

function whole(workTree: string, gitFolder: string): OwnRepository {
  const shared = plainText(join(gitFolder, 'commondir'));
  if (shared !== null) throw new Unrecorded(`${gitFolder} leads to ${resolve(gitFolder, shared.trim())}`);
  return { workTree, gitFolder, commonFolder: gitFolder };
}

/** A work tree beside others, or a submodule: the repository knows the one by its place, and holds the other. */
function linked(workTree: string, place: string): OwnRepository {
  const named = /^gitdir: (.+)/.exec(plainText(place) ?? '')?.[1]?.trim();
  if (named === undefined) throw new Unrecorded(`${place} leads to no repository`);
  const gitFolder = realOf(resolve(workTree, named));
  const shared = plainText(join(gitFolder, 'commondir'));
  if (shared === null) {
    if (isGitFolder(gitFolder) && (isBelow(gitFolder, workTree) || isModule(gitFolder, workTree)))
      return { workTree, gitFolder, commonFolder: gitFolder };
    throw new Unrecorded(`${place} leads to ${gitFolder}, which does not know this work tree`);
  }
  const commonFolder = realOf(resolve(gitFolder, shared.trim()));
  const back = plainText(join(gitFolder, 'gitdir'))?.trim();
  const isKnown = back !== undefined && realOf(resolve(gitFolder, back)) === realOf(place);
  if (!isKnown || dirname(dirname(gitFolder)) !== commonFolder || !isGitFolder(commonFolder))
    throw new Unrecorded(`${place} leads to ${gitFolder}, which does not know this work tree`);
  return { workTree, gitFolder, commonFolder };
}

/** In the repository of a folder around it. */
function isModule(gitFolder: string, workTree: string): boolean {
  const [around] = gitFolder.split(`${sep}.git${sep}modules${sep}`);
  return around !== undefined && around !== gitFolder && around !== workTree && isBelow(workTree, around);
}

/** As git asks, which is not asked here. */
function ofOwner(found: OwnRepository, project: string): OwnRepository {
  const trusted = [process.geteuid?.(), statSync(project).uid];
  const foreign = [found.gitFolder, found.commonFolder].find((folder) => !trusted.includes(statSync(folder).uid));
  if (foreign !== undefined) throw new Unrecorded(`${foreign} belongs to another user`);
  return found;
}
