/**
 * Files as a changeset finds, writes and removes them. No folder on the way is a link: each is opened from the one before
 * it. New content is written beside its place first and then put there in one move, which needs no room on the disk.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
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
import { openFolder, placeOf } from '../../../world/confinement/beneath.ts';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { SYMLINK } from '../../../world/git/trees/files-in-place.ts';

export interface Snapshot {
  /** As git writes it. */
  mode: string;
  /** All bits of its permissions; absent: as the system gives them. */
  bits?: number;
  content: Buffer;
}

/** `folder`, `large` and `other` are nothing that a changeset can touch. */
export type Found = Snapshot | 'folder' | 'large' | 'other' | null;

const split = (path: string): { below: string; name: string } => {
  const end = path.lastIndexOf('/');
  return { below: path.slice(0, Math.max(0, end)), name: path.slice(end + 1) };
};

/** Null where the folder is not there, or a link is on the way. */
function within<Result>(root: string, path: string, use: (folder: string, name: string) => Result): Result | null {
  const { below, name } = split(path);
  const folder = openFolder(root, below, { create: false });
  if (folder === null) return null;
  try {
    return use(placeOf(folder, join(root, below)), name);
  } finally {
    closeSync(folder);
  }
}

export const foundAt = (root: string, path: string): Found =>
  within(root, path, (folder, name): Found => {
    const place = join(folder, name);
    const seen = lstatSync(place, { throwIfNoEntry: false });
    if (seen === undefined) return null;
    if (seen.isDirectory()) return 'folder';
    if (seen.isSymbolicLink()) return { mode: SYMLINK, content: readlinkSync(place, { encoding: 'buffer' }) };
    return seen.isFile() ? contentAt(place) : 'other';
  });

function contentAt(place: string): Found {
  const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { mode, size } = fstatSync(descriptor);
    if (size > CHECKPOINT_BOUNDS.fileBytesMax) return 'large';
    return {
      mode: (mode & 0o100) === 0 ? '100644' : '100755',
      bits: mode & 0o7777,
      content: readFileSync(descriptor),
    };
  } finally {
    closeSync(descriptor);
  }
}

/** Whether it is this file: its content, and what git calls its mode. */
export function isAt(found: Found, wanted: Snapshot | null): boolean {
  if (found === null || wanted === null) return found === wanted;
  return typeof found === 'object' && found.mode === wanted.mode && found.content.equals(wanted.content);
}

/** The folders on the way to a path, the outermost first. */
export function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Those of them that are not there. */
export function missingFolders(root: string, path: string): string[] {
  return foldersOf(path).filter((folder) => lstatSync(join(root, folder), { throwIfNoEntry: false }) === undefined);
}

export function makeFolders(root: string, folders: readonly string[]): void {
  for (const folder of folders)
    within(root, folder, (place, name) => {
      const seen = lstatSync(join(place, name), { throwIfNoEntry: false });
      if (seen === undefined) mkdirSync(join(place, name));
    });
}

/** Of those that it made; one that holds something by now stays. */
export function removeFolders(root: string, folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      within(root, folder, (place, name) => rmdirSync(join(place, name)));
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
}

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Beside the path, on the disk and complete. `draft`: a name that nothing else has. */
export function writeDraft(root: string, path: string, draft: string, { mode, bits, content }: Snapshot): void {
  const done = within(root, path, (folder) => {
    const place = join(folder, draft);
    rmSync(place, { force: true });
    if (mode === SYMLINK) symlinkSync(content, place);
    else {
      const descriptor = openSync(place, 'wx', mode === '100755' ? 0o777 : 0o666);
      try {
        writeFileSync(descriptor, content);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      if (bits !== undefined) chmodSync(place, bits);
    }
    return true;
  });
  if (done === null) throw new Error(`the folder of ${path} is not there any more`);
}

/** In one move. */
export function putDraft(root: string, path: string, draft: string): void {
  const done = within(root, path, (folder, name) => {
    renameSync(join(folder, draft), join(folder, name));
    syncFolder(folder);
    return true;
  });
  if (done === null) throw new Error(`the folder of ${path} is not there any more`);
}

export function removeDraft(root: string, path: string, draft: string): void {
  within(root, path, (folder) => rmSync(join(folder, draft), { force: true }));
}

export function removeFile(root: string, path: string): void {
  within(root, path, (folder, name) => {
    unlinkSync(join(folder, name));
    syncFolder(folder);
  });
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
