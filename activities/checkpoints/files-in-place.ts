/**
 * Files of a project as an undo sees and changes them.
 *
 * - F1 No folder on the way to a file is a symbolic link: each is opened from the one before it, and on Linux
 *      what was opened is used through its descriptor, so that nobody can put a link in its place meanwhile.
 * - F2 A file is replaced as a whole: who reads it sees the old content or the new.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openFolder, placeOf } from '../confinement/beneath.ts';
import { CHECKPOINT_BOUNDS } from './bounds.ts';
import type { FileState } from './tree-diffs.ts';

export type Found = FileState | 'folder' | 'large' | 'other';

const SYMLINK = '120000';

/** What stands at a path; null where there is nothing, or a folder on the way is none. */
export function stateAt(root: string, path: string): Found {
  return within(root, path, { create: false }, (place) => {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.isDirectory()) return 'folder';
    if (found.isSymbolicLink()) return { mode: SYMLINK, blob: blobOf(readlinkSync(place, { encoding: 'buffer' })) };
    if (!found.isFile()) return 'other';
    if (found.size > CHECKPOINT_BOUNDS.fileBytesMax) return 'large';
    const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return { mode: isExecutable(found.mode) ? '100755' : '100644', blob: blobOf(readFileSync(descriptor)) };
    } finally {
      closeSync(descriptor);
    }
  });
}

const isExecutable = (mode: number): boolean => (mode & 0o100) !== 0;

const blobOf = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Removes a file, and the folders that are empty then. */
export function removeAt(root: string, path: string): void {
  within(root, path, { create: false }, (place) => {
    unlinkSync(place);
    return null;
  });
  const parts = path.split('/');
  for (let depth = parts.length - 1; depth > 0; depth -= 1) {
    try {
      within(root, parts.slice(0, depth).join('/'), { create: false }, (place) => {
        rmdirSync(place);
        return null;
      });
    } catch {
      // It holds something: so do those around it.
      return;
    }
  }
}

/** Throws where a folder cannot stand in the way of the file, or a file in that of a folder. */
export function writeAt(root: string, path: string, { mode, content }: { mode: string; content: Buffer }): void {
  within(root, path, { create: true }, (place) => {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) rmdirSync(place);
    const draft = `${place.slice(0, place.lastIndexOf('/'))}/.sentinel-undo-${process.pid}.tmp`;
    rmSync(draft, { force: true });
    try {
      if (mode === SYMLINK) symlinkSync(content, draft);
      else {
        writeFileSync(draft, content, { flag: 'wx', mode: mode === '100755' ? 0o777 : 0o666 });
        if (found?.isFile() === true) chmodSync(draft, withExecution(found.mode & 0o777, mode === '100755'));
      }
      renameSync(draft, place);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    return null;
  });
}

/** Who may read may execute; the rest stays. */
const withExecution = (mode: number, executable: boolean): number =>
  executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;

function within<Result>(
  root: string,
  path: string,
  { create }: { create: boolean },
  use: (place: string) => Result,
): Result | null {
  const end = path.lastIndexOf('/');
  const below = path.slice(0, Math.max(0, end));
  const folder = openFolder(root, below, { create });
  if (folder === null) return null;
  try {
    return use(join(placeOf(folder, join(root, below)), path.slice(end + 1)));
  } finally {
    closeSync(folder);
  }
}
