/** A changeset: files of a project that are created, modified and deleted together, each as a whole. */
import * as z from 'zod';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import { CHECKPOINT_BOUNDS } from '../../../world/git/trees/bounds.ts';
import { blobOf } from '../../../world/git/trees/files-in-place.ts';
import type { Snapshot } from './files.ts';

const MIB = 1024 * 1024;

export const CHANGESET_BOUNDS = {
  operationsMax: 500,
  /** A larger file is in no state of a project, and nothing would take its change back. */
  fileBytesMax: CHECKPOINT_BOUNDS.fileBytesMax,
  /** Of all contents together: a run holds them, in base64 too. */
  bytesMax: 4 * MIB,
  pathLengthMax: 1_000,
  problemsMax: 100,
} as const;

export const KINDS = ['CREATE', 'MODIFY', 'DELETE'] as const;
/** As git writes them: a file, one that may be executed, and a link, of which the content is the target. */
export const MODES = ['100644', '100755', '120000'] as const;

export const Operation = z.strictObject({
  operation: z.enum(KINDS),
  path: z.string().min(1).max(CHANGESET_BOUNDS.pathLengthMax).describe('from the root of the project, with "/"'),
  content: z.string().optional().describe('the whole file, as text'),
  base64: z.string().optional().describe('the whole file, where it is no text'),
  mode: z
    .enum(MODES)
    .optional()
    .describe('100644, 100755 (executable) or 120000 (a link, whose target is the content); as it is unless stated'),
  reason: z.string().max(2_000).optional(),
});
export type Operation = z.infer<typeof Operation>;

export const Changeset = z.strictObject({ operations: z.array(Operation) });
export type Changeset = z.infer<typeof Changeset>;

/** Null: the operation deletes, or holds no content that can be read. */
export function contentOf({ content, base64 }: Operation): Buffer | null {
  if (content !== undefined) return base64 === undefined ? Buffer.from(content, 'utf8') : null;
  if (base64 === undefined) return null;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === base64.replace(/\s/g, '').replace(/=+$/, '') ? bytes : null;
}

/** One file, as it is before and as it is to be; null: it is not there. */
export interface PlannedFile {
  operation: Operation['operation'];
  path: string;
  before: Snapshot | null;
  after: Snapshot | null;
}

export type FileDigest = {
  operation: Operation['operation'];
  path: string;
  /** Mode and blob as git names them, or null. */
  before: string | null;
  after: string | null;
};

const nameOf = (snapshot: Snapshot | null): string | null =>
  snapshot === null ? null : `${snapshot.mode} ${blobOf(snapshot.content)}`;

export const digestsOf = (files: readonly PlannedFile[]): FileDigest[] =>
  files.map(({ operation, path, before, after }) => ({
    operation,
    path,
    before: nameOf(before),
    after: nameOf(after),
  }));

/** Of what is done, and of what it is done to: a touched file that changed meanwhile gives another. */
export const digestOf = (files: readonly PlannedFile[]): string => contentHash(digestsOf(files));
