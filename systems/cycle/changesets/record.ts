/**
 * What a changeset is about to do to a project, written down on the host before it does it: with it, whoever comes next puts
 * back all files, or knows that all are written. It lies beside the states of the project, in the home, and there is one at
 * most for each project.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { defined } from '../../../language/defined.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { writeAtomically } from '../../../world/files/whole-file.ts';
import { SYMLINK } from '../../../world/git/trees/files-in-place.ts';
import type { PlannedFile } from './changeset.ts';
import { syncFolder, type Snapshot } from './files.ts';

const Kept = z.strictObject({ mode: z.string(), bits: z.number().optional(), base64: z.string() }).nullable();

const Written = z.strictObject({
  version: z.literal(1),
  digest: z.string(),
  handle: z.string(),
  /** `applied`: all files are written, and whether they stay is not decided. */
  phase: z.enum(['writing', 'applied']),
  /** In the names of drafts. */
  mark: z.string(),
  /** Folders that it makes. */
  folders: z.array(z.string()),
  files: z.array(
    z.strictObject({
      operation: z.enum(['CREATE', 'MODIFY', 'DELETE']),
      path: z.string(),
      before: Kept,
      after: Kept,
    }),
  ),
});

export interface ChangesetRecord extends Omit<z.infer<typeof Written>, 'files' | 'version'> {
  files: PlannedFile[];
}

const kept = (snapshot: Snapshot | null): z.infer<typeof Kept> =>
  snapshot === null
    ? null
    : { ...defined({ bits: snapshot.bits }), mode: snapshot.mode, base64: snapshot.content.toString('base64') };

function snapshotOf(given: z.infer<typeof Kept>): Snapshot | null {
  if (given === null) return null;
  const { mode, bits, base64 } = given;
  const content = Buffer.from(base64, 'base64');
  return bits === undefined || mode === SYMLINK ? { mode, content } : { mode, bits, content };
}

const fileIn = (place: string): string => join(place, 'changeset', 'record.json');

/** On the disk when it returns. `place`: of the states of the project. */
export function writeRecord(place: string, { files, ...rest }: ChangesetRecord): void {
  const file = fileIn(place);
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const written: z.infer<typeof Written> = {
    version: 1,
    ...rest,
    files: files.map(({ before, after, ...one }) => ({ ...one, before: kept(before), after: kept(after) })),
  };
  writeAtomically(file, JSON.stringify(written));
  syncFolder(folder);
}

export function readRecord(place: string): ChangesetRecord | null {
  const file = fileIn(place);
  if (!existsSync(file)) return null;
  const read = Written.safeParse(jsonIn(file));
  if (!read.success)
    throw new Failure(
      'CHANGESET_RECORD_UNREADABLE',
      `${file} does not say what a changeset was doing to the project; look at the project, and remove that file`,
    );
  const { version: _version, files, ...rest } = read.data;
  return {
    ...rest,
    files: files.map(({ before, after, ...one }) => ({
      ...one,
      before: snapshotOf(before),
      after: snapshotOf(after),
    })),
  };
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

export function removeRecord(place: string): void {
  rmSync(fileIn(place), { force: true });
  if (existsSync(dirname(fileIn(place)))) syncFolder(dirname(fileIn(place)));
}
