/**
 * A repository in a project, which a step may have made: all that git reads of it is in it.
 *
 * - W1 In what git reads there are files and folders. A link would read another repository, and a named pipe
 *      would hold git; a list of what it is to read names files of its own folder.
 * - W2 Objects are borrowed within the project alone, and those who lend them are looked at in the same way.
 *      Lines of `alternates` that git would read otherwise than we do (quoted, not UTF-8) are refused.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from '../../failures/failures.ts';
import { plainText } from '../../files/plain-file.ts';
import { isBelow } from '../../own-programs/helper-programs.ts';

/** Enough for a million loose objects; a step can make more than anybody waits for. */
const ENTRIES_MAX = 1_000_000;

const refused = (finding: string): Failure => new Failure('GIT_FAILED', finding);

/** `single`: files beside the folders; what is not there is well. Objects lie in `objects`. */
export async function refuseStrange(
  gitFolder: string,
  { single, folders }: { single: readonly string[]; folders: readonly string[] },
  root: string,
): Promise<void> {
  for (const name of [...single, ...folders]) refuseLink(join(gitFolder, name));
  const lending = await lenders(join(gitFolder, 'objects'), root);
  let left = ENTRIES_MAX;
  const waiting = [...folders.map((name) => join(gitFolder, name)), ...lending];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      left -= 1;
      if (left < 0) throw refused(`${gitFolder} holds more than ${ENTRIES_MAX} files; "git gc" makes fewer of them`);
      if (entry.isDirectory()) waiting.push(path);
      else if (!entry.isFile()) throw notPlain(path);
    }
  }
  const elsewhere = (plainText(join(gitFolder, 'reftable/tables.list')) ?? '').split('\n').find(isPath);
  if (elsewhere !== undefined) throw refused(`${gitFolder}/reftable/tables.list names ${elsewhere}; repair it`);
}

const isPath = (name: string): boolean => name.includes('/');

const notPlain = (path: string): Failure =>
  refused(
    `${path} is neither a file nor a folder but a symbolic link, a pipe or the like; a run that is not "full" uses a repository without`,
  );

function refuseLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw notPlain(path);
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    // Git puts objects together while others look, and `reftable` has a file in the place of some folders.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw refused(`${folder} cannot be listed (${code}); repair the repository`);
  }
}

/** All folders of objects from which one borrows, also by way of others. */
async function lenders(objects: string, root: string): Promise<string[]> {
  const found = new Set<string>();
  const waiting = [objects];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const list = join(at, 'info/alternates');
    refuseLink(join(at, 'info'));
    refuseLink(list);
    if (lstatSync(list, { throwIfNoEntry: false }) === undefined) continue;
    const text = plainText(list);
    if (text === null) throw refused(`${list} cannot be read; repair it`);
    for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
      const lender = isReadAsWritten(line) ? realOrNull(resolve(at, line)) : null;
      if (lender === null || !isBelow(lender, root))
        throw refused(
          `the repository borrows objects from ${JSON.stringify(line)}; "git repack -a -d" and remove ${list}`,
        );
      if (!found.has(lender)) waiting.push(lender);
      found.add(lender);
    }
  }
  return [...found];
}

const isReadAsWritten = (line: string): boolean => !/^"|[\0\uFFFD]/.test(line);

function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
