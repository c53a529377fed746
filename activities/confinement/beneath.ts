/**
 * Opens what lies beneath a folder, name by name and through no link: a path that was looked at a moment ago may
 * lead elsewhere by now, since other processes move folders meanwhile. A descriptor stays what it is. Linux.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { relative, sep } from 'node:path';

/** Says where something is, without a right to read it. */
const O_PATH = 0o10000000;
const STEP = O_PATH | constants.O_NOFOLLOW;

/** A descriptor for the caller to close; null where there is none, or where a link is on the way. */
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
