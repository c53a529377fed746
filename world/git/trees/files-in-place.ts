/**
 * Files of a project as an undo sees and changes them.
 *
 * - F1 No folder on the way to a file is a symbolic link: each is opened from the one before it, and on Linux
 *      what was opened is used through its descriptor, so that nobody can put a link in its place meanwhile.
 * - F2 A file is replaced as a whole: who reads it sees the old content or the new.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
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
  writeSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { openFolder, placeOf } from '../../confinement/beneath.ts';
import { CHECKPOINT_BOUNDS } from './bounds.ts';
import type { FileState } from './tree-diffs.ts';

export type Found = FileState | 'folder' | 'large' | 'other';

export const SYMLINK = '120000';

interface Seen {
  mode: string;
  size: number;
  mtimeMs: number;
}

/** A file that can be read, or a link. */
export const seenAt = (root: string, path: string): Seen | null =>
  unlessGone(root, path, (place) => {
    const found = lstatSync(place);
    const { size, mtimeMs } = found;
    if (found.isSymbolicLink()) return { mode: SYMLINK, size, mtimeMs };
    if (!found.isFile()) return null;
    accessSync(place, constants.R_OK);
    return { mode: modeOf(found.mode), size, mtimeMs };
  });

/** A pipe, a socket or a device, where there may have been a file. */
export const isNoFileAt = (root: string, path: string): boolean =>
  unlessGone(root, path, (place) => {
    const found = lstatSync(place);
    return !found.isFile() && !found.isSymbolicLink() && !found.isDirectory();
  }) === true;

/** A descriptor from which the content can be read, for the caller to close. */
export interface Opened {
  mode: string;
  descriptor: number;
}

/** Null where no file that can be read and no link is by now. `drafts`: a folder of ours on a disk. */
export function openAt(root: string, path: string, { drafts }: { drafts: string }): Opened | null {
  const opened = unlessGone(root, path, (place) => {
    const found = lstatSync(place);
    if (found.isSymbolicLink()) return readlinkSync(place, { encoding: 'buffer' });
    return found.isFile() ? openFile(place) : null;
  });
  return Buffer.isBuffer(opened) ? { mode: SYMLINK, descriptor: asFile(opened, drafts) } : opened;
}

/** It was another a moment ago, or may not be read. */
const GONE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EACCES', 'EPERM', 'ENXIO'];

function unlessGone<Result>(root: string, path: string, use: (place: string) => Result | null): Result | null {
  try {
    return within(root, path, { create: false }, use);
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.includes(String(error.code))) return null;
    throw error;
  }
}

function openFile(place: string): Opened | null {
  const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = fstatSync(descriptor);
  if (found.isFile() && found.size <= CHECKPOINT_BOUNDS.fileBytesMax) return { mode: modeOf(found.mode), descriptor };
  closeSync(descriptor);
  return null;
}

export interface ReadFile {
  mode: string;
  /** Null: too large to keep. */
  content: Buffer | null;
  /** Of what was read, and when the reading began. */
  stats: Stats;
  at: number;
}

/** Null where no file that can be read and no link is by now. */
export const readAt = (root: string, path: string): ReadFile | null =>
  unlessGone(root, path, (place) => {
    const at = Date.now();
    const stats = lstatSync(place);
    if (stats.isSymbolicLink())
      return { mode: SYMLINK, content: readlinkSync(place, { encoding: 'buffer' }), stats, at };
    return stats.isFile() ? readFile(place, at) : null;
  });

function readFile(place: string, at: number): ReadFile {
  const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    const isLarge = stats.size > CHECKPOINT_BOUNDS.fileBytesMax;
    const content = isLarge || !stats.isFile() ? null : readFileSync(descriptor);
    return { mode: modeOf(stats.mode), content, stats, at };
  } finally {
    closeSync(descriptor);
  }
}

/** Git stores what it can read: content that is in no file, in one without a name. */
export function asFile(content: Buffer, drafts: string): number {
  const draft = join(drafts, `link-${process.pid}-${randomBytes(8).toString('hex')}`);
  const descriptor = openSync(draft, 'wx+', 0o600);
  try {
    unlinkSync(draft);
    // At a position of its own: whoever reads next begins at the beginning.
    writeSync(descriptor, content, 0, content.length, 0);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return descriptor;
}

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
      return { mode: modeOf(found.mode), blob: blobOf(readFileSync(descriptor)) };
    } finally {
      closeSync(descriptor);
    }
  });
}

const modeOf = (mode: number): string => ((mode & 0o100) === 0 ? '100644' : '100755');

export const blobOf = (content: Buffer): string =>
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
