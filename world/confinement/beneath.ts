/**
 * Opens what lies beneath a folder, name by name and through no link: a path that was looked at a moment ago may
 * lead elsewhere by now, since other processes move folders meanwhile. A descriptor stays what it is, and on Linux
 * what is in a folder can be named by it. Elsewhere no mode holds processes in, and names have to do.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Says where something is, without a right to read it. */
const O_PATH = 0o10000000;
const STEP = O_PATH | constants.O_NOFOLLOW;
const FOLDER = (process.platform === 'linux' ? O_PATH : 0) | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Where the folder is that was opened, for what is in it. */
export const placeOf = (folder: number, path: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${folder}` : path;

/** A descriptor for the caller to close; null where a folder on the way is missing or is none. `below`: with `/`. `mode`: of folders that it makes. */
export function openFolder(
  root: string,
  below: string,
  { create, mode }: { create: boolean; mode?: number },
): number | null {
  let [at, opened] = [root, openSync(root, FOLDER & ~constants.O_NOFOLLOW)];
  for (const name of below.split('/').filter(Boolean)) {
    const place = join(placeOf(opened, at), name);
    let next: number | null;
    try {
      next = stepInto(place, create, mode);
    } finally {
      closeSync(opened);
    }
    if (next === null) return null;
    [at, opened] = [join(at, name), next];
  }
  return opened;
}

function stepInto(place: string, create: boolean, mode: number | undefined): number | null {
  for (let isMade = false; ; isMade = true) {
    try {
      return openSync(place, FOLDER);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (!create && (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP')) return null;
      if (code !== 'ENOENT' || isMade) throw error;
      makeFolder(place, mode);
    }
  }
}

function makeFolder(place: string, mode: number | undefined): void {
  try {
    mkdirSync(place, { mode });
  } catch (error) {
    // Somebody else may have made it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/**
 * What is there, be it a file or a folder: a descriptor for the caller to close, which says where it is and no more;
 * null where there is none, or where a link is on the way. Linux.
 */
export function openBeneath(root: string, path: string): number | null {
  const names = relative(root, path).split(sep).filter(Boolean);
  if (names.includes('..')) return null;
  let at: number | null = openOne(root, true);
  for (const [index, name] of names.entries()) {
    if (at === null) return null;
    const next = openOne(`/proc/self/fd/${at}/${name}`, index < names.length - 1);
    closeSync(at);
    at = next;
  }
  return at;
}

function openOne(path: string, isFolder: boolean): number | null {
  let opened: number;
  try {
    opened = openSync(path, STEP | (isFolder ? constants.O_DIRECTORY : 0));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  }
  if (!fstatSync(opened).isSymbolicLink()) return opened;
  closeSync(opened);
  return null;
}
