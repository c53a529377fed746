/** What differs between two trees, file by file, and as a unified diff. */
import { isSecretFile } from '../../../language/rights/secret-files.ts';
import { CHECKPOINT_BOUNDS } from './bounds.ts';
import { RECORD } from './entries.ts';
import { GitTrouble, type ShadowGit } from './shadow-git.ts';

/** Null: there is none. */
export type FileState = { mode: string; blob: string } | null;

export interface FileChange {
  path: string;
  before: FileState;
  after: FileState;
}

export interface TreePair {
  before: string;
  after: string;
}

const nameOf = ({ before, after }: TreePair): string => `${before} ${after}`;

/** In the order of `pairs`. */
export async function diffTrees(git: ShadowGit, pairs: readonly TreePair[]): Promise<FileChange[][]> {
  const unlike = pairs.filter(({ before, after }) => before !== after);
  if (unlike.length === 0) return pairs.map(() => []);
  const wanted = [...new Set(unlike.map((pair) => nameOf(pair)))];
  const output = await git.run(['diff-tree', '--stdin', '-r', '-z', '--raw', '--no-renames', '--no-abbrev'], {
    bytesMax: CHECKPOINT_BOUNDS.listBytesMax,
    stdin: `${wanted.join('\n')}\n`,
  });
  const found = readDiffs(output);
  // Git says so on stderr alone, and goes on with the next pair.
  const missing = wanted.find((pair) => !found.has(pair));
  if (missing !== undefined) throw new GitTrouble(`git has no longer both of ${missing}`);
  return pairs.map((pair) => found.get(nameOf(pair)) ?? []);
}

/** A line with the two trees, and behind it for each file `:mode mode blob blob status`, NUL, path, NUL. */
function readDiffs(output: Buffer): Map<string, FileChange[]> {
  const found = new Map<string, FileChange[]>();
  let changes: FileChange[] = [];
  for (let at = 0; at < output.length;) {
    if (output[at] !== 0x3a) {
      const end = output.indexOf(0x0a, at);
      changes = [];
      found.set(output.toString('latin1', at, end), changes);
      at = end + 1;
      continue;
    }
    const meta = output.indexOf(0, at);
    const end = output.indexOf(0, meta + 1);
    const [modeBefore = '', modeAfter = '', blobBefore = '', blobAfter = ''] = output
      .toString('latin1', at + 1, meta)
      .split(' ');
    changes.push({
      path: output.toString('utf8', meta + 1, end),
      before: stateOf(modeBefore, blobBefore),
      after: stateOf(modeAfter, blobAfter),
    });
    at = end + 1;
  }
  return found;
}

const stateOf = (mode: string, blob: string): FileState => (mode === '000000' ? null : { mode, blob });

export const isSame = (a: FileState, b: FileState): boolean =>
  a === null || b === null ? a === b : a.mode === b.mode && a.blob === b.blob;

/** All but what moved in the repository. */
const FILES_ALONE = ['--', `:(exclude,top,literal)${RECORD.slice(0, -1)}`] as const;

/** What a tree holds, by path; `below`: a folder. */
export async function listTree(git: ShadowGit, tree: string, below?: string): Promise<Map<string, FileState>> {
  const listed = await git.run(
    ['ls-tree', '-r', '-z', '--full-tree', tree, ...(below === undefined ? [] : ['--', below])],
    { bytesMax: CHECKPOINT_BOUNDS.listBytesMax },
  );
  return new Map(
    listed
      .toString('utf8')
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [mode = '', , blob = ''] = line.slice(0, line.indexOf('\t')).split(' ');
        return [line.slice(line.indexOf('\t') + 1), { mode, blob }] as const;
      }),
  );
}

export interface CountedChange {
  path: string;
  status: 'created' | 'changed' | 'deleted';
  /** Lines; null where the content is no text. */
  added: number | null;
  removed: number | null;
}

export async function countChanges(
  git: ShadowGit,
  pair: TreePair,
  changes: readonly FileChange[],
): Promise<CountedChange[]> {
  if (changes.length === 0) return [];
  const output = await git.text(
    ['diff-tree', '-r', '-z', '--numstat', '--no-renames', pair.before, pair.after, ...FILES_ALONE],
    { bytesMax: CHECKPOINT_BOUNDS.listBytesMax, isPatterned: true },
  );
  const counted = new Map(
    output
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [added = '', removed = '', ...path] = line.split('\t');
        return [path.join('\t'), { added: linesOf(added), removed: linesOf(removed) }] as const;
      }),
  );
  return changes.map(({ path, before, after }) => ({
    path,
    status: before === null ? 'created' : after === null ? 'deleted' : 'changed',
    ...(counted.get(path) ?? { added: null, removed: null }),
  }));
}

const linesOf = (text: string): number | null => (text === '-' ? null : Number(text));

/** Cut where it is longer than a person reads. What files with secrets hold is left out. `only`: these files; null means all. */
export async function patchOf(
  git: ShadowGit,
  { before, after }: TreePair,
  only: readonly string[] | null,
): Promise<{ text: string; isCut: boolean }> {
  if (before === after || only?.length === 0) return { text: '', isCut: false };
  const { patchBytesMax: most, filesNamed } = CHECKPOINT_BOUNDS;
  const named = only === null ? FILES_ALONE : ['--', ...only.slice(0, filesNamed)];
  const isPart = only !== null && only.length > filesNamed;
  const bytes = await git.run(
    ['diff-tree', '-r', '-p', '--no-renames', '--no-ext-diff', '--no-textconv', before, after, ...named],
    { bytesMax: Number.POSITIVE_INFINITY, cutAt: most, isPatterned: only === null },
  );
  return { text: withoutSecretFiles(bytes.subarray(0, most).toString('utf8')), isCut: isPart || bytes.length > most };
}

const SECTION = /^diff --git /m;
const UNSHOWN = '(what it holds is not shown: by its name it holds secrets)\n';

/** A line of a file never begins like the head of a section. */
function withoutSecretFiles(patch: string): string {
  const [head = '', ...sections] = patch.split(SECTION);
  const shown = sections.map((section) => {
    if (!isSecretFile(pathIn(section).split('/'))) return section;
    const content = section.search(/^(?:@@ |Binary files |GIT binary )/m);
    return content === -1 ? section : `${section.slice(0, content)}${UNSHOWN}`;
  });
  return [head, ...shown].join('diff --git ');
}

/** Of `a/PATH b/PATH`, each of which may stand in quotes. */
function pathIn(section: string): string {
  const line = section.slice(0, section.indexOf('\n'));
  const half = line.slice((line.length + 1) / 2).replace(/^"(.*)"$/, '$1');
  return half.replace(/^b\//, '');
}

/** Contents by blob. */
export async function readBlobs(
  git: ShadowGit,
  blobs: readonly string[],
  bytesMax: number = CHECKPOINT_BOUNDS.fileBytesMax,
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  if (blobs.length === 0) return found;
  const output = await git.run(['cat-file', '--batch'], {
    stdin: `${blobs.join('\n')}\n`,
    bytesMax: blobs.length * (bytesMax + 100),
  });
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0x0a, at);
    const [blob = '', type, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob') continue;
    found.set(blob, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}
