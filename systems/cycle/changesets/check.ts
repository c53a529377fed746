/**
 * Whether a changeset can be done, and taken back, as a whole: before anybody is asked about it. All that is wrong is said,
 * each with its path.
 */
import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute, join, posix } from 'node:path';
import { type Access, resolveInside } from '../../../world/confinement/confine.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { SYMLINK } from '../../../world/git/trees/files-in-place.ts';
import type { ShadowGit } from '../../../world/git/trees/shadow-git.ts';
import {
  CHANGESET_BOUNDS,
  type Changeset,
  contentOf,
  digestOf,
  type Operation,
  type PlannedFile,
} from './changeset.ts';
import { foldersOf, foundAt, type Found, type Snapshot } from './files.ts';
import { unfinishedIn } from './repository.ts';

export type Problem = { path: string; why: string };

export interface Checked {
  problems: Problem[];
  /** In the order of the changeset; empty where something is wrong. */
  files: PlannedFile[];
}

export interface Place {
  /** The real path of the folder that the step works in. */
  root: string;
  access: Access;
  git: ShadowGit;
}

export async function checkChangeset({ operations }: Changeset, place: Place): Promise<Checked> {
  const problems = [...wholeProblems(operations), ...repositoryProblems(place.root)];
  const files: PlannedFile[] = [];
  const wellNamed: string[] = [];
  for (const operation of operations) {
    const why = nameProblem(operation.path) ?? placeProblem(operation.path, place);
    if (why !== null) {
      problems.push({ path: operation.path, why });
      continue;
    }
    wellNamed.push(operation.path);
    const planned = planFile(operation, foundAt(place.root, operation.path));
    if (typeof planned === 'string') problems.push({ path: operation.path, why: planned });
    else files.push(planned);
  }
  for (const path of await leftOut(place.git, wellNamed))
    problems.push({
      path,
      why: 'is left out of the states of the project (.gitignore), so nothing would take it back',
    });
  const shown = problems.slice(0, CHANGESET_BOUNDS.problemsMax);
  return { problems: shown, files: problems.length === 0 ? files : [] };
}

function wholeProblems(operations: readonly Operation[]): Problem[] {
  const problems: Problem[] = [];
  const of = (path: string, why: string): void => void problems.push({ path, why });
  if (operations.length === 0) of('', 'the changeset is empty');
  if (operations.length > CHANGESET_BOUNDS.operationsMax)
    of('', `the changeset has ${operations.length} operations; ${CHANGESET_BOUNDS.operationsMax} is the limit`);
  const bytes = operations.reduce((sum, { content = '', base64 = '' }) => sum + content.length + base64.length, 0);
  if (bytes > CHANGESET_BOUNDS.bytesMax)
    of('', `the changeset holds ${bytes} characters of content; ${CHANGESET_BOUNDS.bytesMax} is the limit`);
  const seen = new Set<string>();
  for (const { path } of operations) {
    if (seen.has(path)) of(path, 'is named twice');
    seen.add(path);
  }
  for (const path of seen) {
    const around = foldersOf(path).find((folder) => seen.has(folder));
    if (around !== undefined) of(path, `lies in "${around}", which the changeset takes for a file`);
  }
  return problems;
}

function repositoryProblems(root: string): Problem[] {
  const unfinished = unfinishedIn(root);
  return unfinished === null ? [] : [{ path: '', why: `${unfinished} is under way in the repository; end it first` }];
}

/** Of a path by itself. */
function nameProblem(path: string): string | null {
  if (path.includes('\0')) return 'holds a NUL byte';
  if (/\p{Cc}/u.test(path)) return 'holds a control character';
  if (path.includes('\\')) return 'holds a backslash; folders end with "/"';
  if (isAbsolute(path)) return 'is absolute; write it from the root of the project';
  if (path.endsWith('/')) return 'names a folder; a changeset holds files';
  if (posix.normalize(path) !== path || path.split('/').includes('..'))
    return 'has a name "." or ".." or an empty one in it; write it plainly';
  return null;
}

/** Of what is at the path, and on the way to it. */
function placeProblem(path: string, { root, access }: Place): string | null {
  for (const folder of foldersOf(path)) {
    const seen = lstatSync(join(root, folder), { throwIfNoEntry: false });
    if (seen === undefined) break;
    if (seen.isSymbolicLink()) return `leads through the link "${folder}"`;
    if (!seen.isDirectory()) return `lies in "${folder}", which is a file`;
    if (existsSync(join(root, folder, '.git')))
      return `lies in another repository, "${folder}" (a submodule, or one inside the project)`;
  }
  if (path.split('/').includes('node_modules')) return 'is in node_modules, which no state of the project holds';
  return protectionProblem(path, root, access);
}

function protectionProblem(path: string, root: string, access: Access): string | null {
  const isLink = lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink() === true;
  try {
    // What is written is the link itself; where it leads to does not matter, what it is called does.
    resolveInside(root, isLink ? `${posix.dirname(path)}/.link-${posix.basename(path)}` : path, access);
    if (isLink) resolveInside(root, path, access);
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'PATH_PROTECTED' ? 'is protected' : `cannot be used: ${error.message}`;
  }
}

/** The digest of these operations on files as they were; null where they cannot be done to those. */
export function digestAfter(operations: readonly Operation[], before: readonly PlannedFile[]): string | null {
  const found = new Map(before.map((file) => [file.path, file.before]));
  const files = operations.map((operation) => planFile(operation, found.get(operation.path) ?? null));
  return files.every((file) => typeof file !== 'string') ? digestOf(files) : null;
}

/** The file as it is and is to be, or what is wrong. */
function planFile(operation: Operation, found: Found): PlannedFile | string {
  const { operation: kind, path } = operation;
  if (found === 'folder') return kind === 'DELETE' ? 'is a folder; delete its files' : 'is a folder';
  if (found === 'large') return `has more than ${CHANGESET_BOUNDS.fileBytesMax} bytes, so no state holds it`;
  if (found === 'other') return 'is neither a file nor a link';
  if (kind === 'CREATE' && found !== null) return 'is there already; MODIFY it';
  if (kind !== 'CREATE' && found === null) return 'is not there';
  const after = afterOf(operation, found);
  return typeof after === 'string' ? after : { operation: kind, path, before: found, after };
}

function afterOf(operation: Operation, before: Snapshot | null): Snapshot | null | string {
  const { operation: kind, content: text, base64, mode = before?.mode ?? '100644' } = operation;
  if (kind === 'DELETE')
    return (text ?? base64 ?? operation.mode) === undefined ? null : 'is deleted, so it has neither content nor mode';
  if (text !== undefined && base64 !== undefined) return 'has "content" and "base64"; one of them is the file';
  if (text?.includes('\0') === true) return 'holds NUL bytes, so it is no text; write it as "base64"';
  const content =
    text === undefined && base64 === undefined && operation.mode !== undefined
      ? (before?.content ?? null)
      : contentOf(operation);
  if (content === null) return base64 === undefined ? 'has no content' : 'has content that is no base64';
  if (content.length > CHANGESET_BOUNDS.fileBytesMax)
    return `would have ${content.length} bytes; ${CHANGESET_BOUNDS.fileBytesMax} is the limit of a file`;
  if (mode === SYMLINK) return linkProblem(operation.path, content) ?? { mode, content };
  const bits = before?.bits;
  return bits === undefined ? { mode, content } : { mode, content, bits: bitsFor(mode, bits) };
}

/** Who may read it may execute it; everything else stays. */
const bitsFor = (mode: string, bits: number): number =>
  mode === '100755' ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;

function linkProblem(path: string, target: Buffer): string | null {
  const to = target.toString('utf8');
  if (to === '' || to.includes('\0')) return 'is a link to nowhere';
  const led = posix.normalize(posix.join(posix.dirname(path), to));
  return isAbsolute(to) || led === '..' || led.startsWith('../') ? 'is a link that leads out of the project' : null;
}

/** Those that no state of the project would hold. */
async function leftOut(git: ShadowGit, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  // A name that begins with a colon would be a pattern.
  const given = paths.map((path) => `./${path}`);
  const said = await git.run(['check-ignore', '--no-index', '-z', '--stdin'], {
    stdin: `${given.join('\0')}\0`,
    codes: [0, 1],
    isPatterned: true,
  });
  const named = new Set(said.toString('utf8').split('\0'));
  return paths.filter((path) => named.has(`./${path}`));
}
