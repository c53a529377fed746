/**
 * The merge of two commits without a work tree: `git merge-tree` makes the tree, so that a merge either is a whole commit
 * or has changed nothing. What is in conflict comes as data.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defined } from '../../../language/defined.ts';
import { Failure } from '../../failures/failures.ts';
import { gitFailed, type RepositoryGit } from './repository-git.ts';

export const CONFLICT_KINDS = [
  'both-changed',
  'both-added',
  'deleted-by-ours',
  'deleted-by-theirs',
  'binary',
  'other',
] as const;
export type ConflictKind = (typeof CONFLICT_KINDS)[number];

/** A passage that both sides changed in different ways. */
export interface Hunk {
  /** In the file of the branch that is merged into, from 1. */
  line: number;
  ours: string;
  base: string;
  theirs: string;
}

export interface Conflict {
  path: string;
  kind: ConflictKind;
  /** What git says of it. */
  message: string;
  hunks: Hunk[];
}

/** Of a file in a commit; null where it is not there. */
export interface FileEntry {
  mode: string;
  blob: string;
}

export interface MergedTree {
  tree: string;
  conflicts: Conflict[];
}

/** Of paths, from a merge before: what the file is to be. */
export type Resolutions = ReadonlyMap<string, FileEntry | null>;

interface Stages {
  base?: FileEntry;
  ours?: FileEntry;
  theirs?: FileEntry;
}

const STAGES = { '1': 'base', '2': 'ours', '3': 'theirs' } as const;
const oldestGit = '2.38';

export async function mergeTrees(git: RepositoryGit, ours: string, theirs: string): Promise<MergedTree> {
  const args = ['merge-tree', '--write-tree', '-z', '--messages', ours, theirs];
  const said = await git.run(args, { codes: [0, 1, 129] });
  if (said.exitCode === 129)
    throw new Failure(
      'GIT_FAILED',
      `git on this host is older than ${oldestGit} and cannot merge without a work tree; update it`,
    );
  const [tree = '', ...rest] = said.stdout.split('\0');
  if (!/^[0-9a-f]{40,64}$/.test(tree)) throw gitFailed(args, said);
  if (said.exitCode === 0) return { tree, conflicts: [] };
  const end = rest.indexOf('');
  const files = stagesIn(rest.slice(0, end));
  const messages = messagesIn(
    rest.slice(end + 1).map((field) => field.replaceAll(ours, 'ours').replaceAll(theirs, 'theirs')),
  );
  const conflicts: Conflict[] = [];
  for (const [path, stages] of files) conflicts.push(await conflictAt(git, path, stages, messages.get(path) ?? ''));
  return { tree, conflicts };
}

function stagesIn(entries: readonly string[]): Map<string, Stages> {
  const files = new Map<string, Stages>();
  for (const entry of entries) {
    const [, mode = '', blob = '', stage = '', path = ''] = /^(\d+) ([0-9a-f]+) ([123])\t([^]*)$/.exec(entry) ?? [];
    files.set(path, { ...files.get(path), [STAGES[stage as '1' | '2' | '3']]: { mode, blob } });
  }
  return files;
}

/** `COUNT`, as many paths, the kind, the words. */
function messagesIn(fields: readonly string[]): Map<string, string> {
  const messages = new Map<string, string>();
  for (let at = 0; at < fields.length;) {
    const count = Number(fields[at]);
    if (!Number.isInteger(count) || fields[at] === '') break;
    const paths = fields.slice(at + 1, at + 1 + count);
    const [kind = '', words = ''] = fields.slice(at + 1 + count);
    if (kind.startsWith('CONFLICT')) for (const path of paths) messages.set(path, words.trim());
    at += count + 3;
  }
  return messages;
}

async function conflictAt(git: RepositoryGit, path: string, stages: Stages, message: string): Promise<Conflict> {
  const { base, ours, theirs } = stages;
  if (ours === undefined || theirs === undefined) return { path, kind: kindOfGone(stages), message, hunks: [] };
  if (![ours, theirs, base].every((entry) => entry === undefined || entry.mode.startsWith('100')))
    return { path, kind: 'other', message, hunks: [] };
  const hunks = await hunksOf(git, { ours, theirs, ...defined({ base }) });
  const kind = hunks === null ? 'binary' : base === undefined ? 'both-added' : 'both-changed';
  return { path, kind, message, hunks: hunks ?? [] };
}

function kindOfGone({ base, ours, theirs }: Stages): ConflictKind {
  if (base !== undefined && ours === undefined && theirs !== undefined) return 'deleted-by-ours';
  return base !== undefined && ours !== undefined ? 'deleted-by-theirs' : 'other';
}

/** No line of a file begins with so many of these. */
const markerLength = 61;
const marker = (sign: string): string => sign.repeat(markerLength);

/** Null for what is no text. */
async function hunksOf(
  git: RepositoryGit,
  { base, ours, theirs }: { base?: FileEntry; ours: FileEntry; theirs: FileEntry },
): Promise<Hunk[] | null> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-merge-'));
  try {
    const files: string[] = [];
    for (const entry of [ours, base, theirs]) files.push(await fileOf(git, folder, entry));
    const args = ['merge-file', '-p', '--diff3', `--marker-size=${markerLength}`, ...files];
    const { exitCode, stdout } = await git.run(args, { cwd: folder, codes: [...Array(128).keys(), 255] });
    return exitCode === 255 ? null : hunksIn(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fileOf(git: RepositoryGit, folder: string, entry: FileEntry | undefined): Promise<string> {
  if (entry !== undefined) return git.text(['unpack-file', entry.blob], { cwd: folder });
  await writeFile(join(folder, 'none'), '');
  return 'none';
}

/** Of a text in the form `diff3`. */
export function hunksIn(text: string): Hunk[] {
  const hunks: Hunk[] = [];
  let open: { side: 'ours' | 'base' | 'theirs'; hunk: Hunk } | null = null;
  let line = 1;
  for (const each of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (open === null && each.startsWith(marker('<')))
      open = { side: 'ours', hunk: { line, ours: '', base: '', theirs: '' } };
    else if (open?.side === 'ours' && each.startsWith(marker('|'))) open.side = 'base';
    else if (open?.side === 'base' && each.startsWith(marker('='))) open.side = 'theirs';
    else if (open?.side === 'theirs' && each.startsWith(marker('>'))) {
      hunks.push(open.hunk);
      open = null;
    } else if (open === null) line += 1;
    else {
      open.hunk[open.side] += each;
      if (open.side === 'ours') line += 1;
    }
  }
  return hunks;
}

/** The tree with other files at some paths. */
export async function treeWith(git: RepositoryGit, tree: string, files: Resolutions): Promise<string> {
  if (files.size === 0) return tree;
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-merge-'));
  const env = { GIT_INDEX_FILE: join(folder, 'index') };
  try {
    await git.run(['read-tree', tree], { env });
    const lines = [...files].map(([path, entry]) =>
      entry === null ? `0 ${'0'.repeat(tree.length)}\t${path}` : `${entry.mode} ${entry.blob}\t${path}`,
    );
    await git.run(['update-index', '-z', '--index-info'], { env, stdin: lines.map((each) => `${each}\0`).join('') });
    return await git.text(['write-tree'], { env });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function entryIn(git: RepositoryGit, commit: string, path: string): Promise<FileEntry | null> {
  const listed = await git.run(['ls-tree', '-z', commit, '--', `:(top,literal)${path}`]);
  const [, mode, blob] = /^(\d+) \w+ ([0-9a-f]+)\t/.exec(listed.stdout) ?? [];
  return mode === undefined || blob === undefined ? null : { mode, blob };
}

export const textOfBlob = async (git: RepositoryGit, blob: string): Promise<string> =>
  (await git.run(['cat-file', 'blob', blob])).stdout;

export async function commitMerge(
  git: RepositoryGit,
  { tree, ours, theirs, message }: { tree: string; ours: string; theirs: string; message: string },
): Promise<string> {
  const env = await git.committer();
  return git.text(['commit-tree', tree, '-p', ours, '-p', theirs, '-F', '-'], { stdin: message, env });
}
