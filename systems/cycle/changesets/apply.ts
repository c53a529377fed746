/**
 * All files of a changeset are written, or none is.
 *
 * - A1 Before the first file is touched, the record on the host says what it was and what it is to be.
 * - A2 All new content is on the disk before the first file is replaced: a full disk is found while everything is as before.
 * - A3 Whoever comes next and finds a record puts the files back, unless all of them are written.
 * - A4 A file that is neither as before nor as approved is somebody else's by now. It stays as it is, and is named.
 */
import { randomBytes } from 'node:crypto';
import { crashPoint } from '../../../world/crash-points/crash-point.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { digestOf, type PlannedFile } from './changeset.ts';
import {
  foundAt,
  isAt,
  makeFolders,
  missingFolders,
  putDraft,
  removeDraft,
  removeFile,
  removeFolders,
  writeDraft,
} from './files.ts';
import { type ChangesetRecord, readRecord, removeRecord, writeRecord } from './record.ts';

export interface Target {
  /** The real path of the folder with the files. */
  root: string;
  /** Of the states of the project in the home. */
  place: string;
  /** Before each thing that it does: throws where another attempt may have begun. */
  check: () => void;
}

export interface Settled {
  /** `none`: nothing was under way. */
  how: 'none' | 'back' | 'forward';
  /** Of the changeset that was under way. */
  digest: string | null;
  /** Files that somebody else changed meanwhile, which stay as they are. */
  left: string[];
}

const draftOf = (mark: string, index: number): string => `.sentinel-changeset-${mark}-${index}.tmp`;

const stale = (path: string): Failure =>
  new Failure(
    'CHANGESET_STALE',
    `"${path}" is not as it was when the changeset was approved, and nothing was changed; look at it, and propose again`,
  );

/** Throws `CHANGESET_STALE` where a file is not as planned, and `CHANGESET_NOT_WRITTEN`; all is as before then. */
export function applyFiles(target: Target, files: readonly PlannedFile[], handle: string): void {
  const { root, place, check } = target;
  for (const { path, before } of files) if (!isAt(foundAt(root, path), before)) throw stale(path);
  const record: ChangesetRecord = {
    digest: digestOf(files),
    handle,
    phase: 'writing',
    mark: randomBytes(6).toString('hex'),
    folders: [...new Set(files.flatMap(({ path, after }) => (after === null ? [] : missingFolders(root, path))))],
    files: [...files],
  };
  check();
  try {
    writeRecord(place, record);
    crashPoint('changeset.recorded', { handle });
    write(target, record);
  } catch (error) {
    if (isOvertaken(error)) throw error;
    rollBack(target, record);
    throw error instanceof Failure ? error : notWritten(error);
  }
  writeRecord(place, { ...record, phase: 'applied' });
}

/** Another attempt is at work by now, which does what is left to do. */
const isOvertaken = (error: unknown): boolean => !(error instanceof Failure) && !isOfSystem(error);

const isOfSystem = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && 'syscall' in error;

function notWritten(error: unknown): Failure {
  const why = error instanceof Error ? error.message : String(error);
  const full = isOfSystem(error) && ['ENOSPC', 'EDQUOT'].includes(error.code);
  return new Failure(
    'CHANGESET_NOT_WRITTEN',
    `the files of the changeset could not be written (${why}), and all are as before; ${full ? 'make room on the disk' : 'see to that place'}, and run the step again`,
    { cause: error },
  );
}

function write({ root, check }: Target, { handle, mark, folders, files }: ChangesetRecord): void {
  check();
  makeFolders(root, folders);
  for (const [index, { path, after }] of files.entries()) {
    if (after === null) continue;
    check();
    writeDraft(root, path, draftOf(mark, index), after);
  }
  for (const [index, { path, before, after }] of files.entries()) {
    check();
    if (!isAt(foundAt(root, path), before)) throw stale(path);
    if (after === null) removeFile(root, path);
    else putDraft(root, path, draftOf(mark, index));
    crashPoint('changeset.placed', { handle });
  }
}

/** Names the files that stay as somebody else made them. */
function rollBack(target: Target, record: ChangesetRecord): string[] {
  const { root, place } = target;
  const { handle, mark, folders, files } = record;
  const left: string[] = [];
  for (const [index, { path, before, after }] of files.entries()) {
    removeDraft(root, path, draftOf(mark, index));
    const found = foundAt(root, path);
    if (isAt(found, before)) continue;
    if (!isAt(found, after)) {
      left.push(path);
      continue;
    }
    target.check();
    crashPoint('changeset.putting-back', { handle });
    if (before === null) removeFile(root, path);
    else {
      makeFolders(root, missingFolders(root, path));
      writeDraft(root, path, draftOf(mark, index), before);
      putDraft(root, path, draftOf(mark, index));
    }
  }
  removeFolders(root, folders);
  removeRecord(place);
  return left;
}

/** What a changeset that did not end has left: all files as before, or all as approved. */
export function settle(target: Target): Settled {
  const record = readRecord(target.place);
  if (record === null) return { how: 'none', digest: null, left: [] };
  const { digest, files, mark } = record;
  const isWritten =
    record.phase === 'applied' || files.every(({ path, after }) => isAt(foundAt(target.root, path), after));
  target.check();
  if (!isWritten) return { how: 'back', digest, left: rollBack(target, record) };
  for (const [index, { path }] of files.entries()) removeDraft(target.root, path, draftOf(mark, index));
  if (record.phase === 'writing') writeRecord(target.place, { ...record, phase: 'applied' });
  return { how: 'forward', digest, left: [] };
}

/** Puts all files back of a changeset that is applied. Null where it is not this one. */
export function revert(target: Target, digest: string): string[] | null {
  const record = readRecord(target.place);
  return record?.digest === digest ? rollBack(target, record) : null;
}
