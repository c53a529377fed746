/** What changed between two states of a project: file by file, as a patch, and how it is taken back. */
import { isSecretFile } from '../../language/rights/secret-files.ts';
import { isOfRecord } from '../../world/git/trees/entries.ts';
import { removeAt, stateAt, writeAt } from '../../world/git/trees/files-in-place.ts';
import type { ShadowGit } from '../../world/git/trees/shadow-git.ts';
import {
  countChanges,
  diffTrees,
  type FileChange,
  isSame,
  readBlobs,
  type TreePair,
} from '../../world/git/trees/tree-diffs.ts';
import type { ChangedFile } from './judging/manifest.ts';

/** Where evidence lies: in no radius, scan or patch. */
export const EVIDENCE = '.claude/sentinel/';

export const isEvidence = (path: string): boolean => path.startsWith(EVIDENCE);

/** What running tests leaves behind, and nobody keeps in a repository. */
const LEFT_BY_TESTS =
  /(?:^|\/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.vite|\.vitest|\.nyc_output|coverage|target|[^/]+\.egg-info)\/|\.pyc$|(?:^|\/)(?:\.coverage|junit\.xml|Cargo\.lock)$/;

/** Files alone; of what tests leave behind only what was there before. */
export async function changesBetween(git: ShadowGit, pair: TreePair): Promise<FileChange[]> {
  const [changes = []] = await diffTrees(git, [pair]);
  return changes.filter(({ path, before }) => !isOfRecord(path) && (before !== null || !LEFT_BY_TESTS.test(path)));
}

/** What moved in the repository beside: HEAD, a branch, the index, a stash. */
export async function movedBetween(git: ShadowGit, pair: TreePair): Promise<string[]> {
  const [changes = []] = await diffTrees(git, [pair]);
  return changes.map(({ path }) => path).filter((path) => isOfRecord(path));
}

export async function countedFiles(
  git: ShadowGit,
  pair: TreePair,
  changes: readonly FileChange[],
): Promise<ChangedFile[]> {
  const counted = await countChanges(git, pair, changes);
  return counted.map(({ path, added, removed }) => ({
    path,
    lines_added: added ?? 0,
    lines_removed: removed ?? 0,
  }));
}

const PATCH_BYTES_MAX = 32 * 1024 * 1024;
const PATHS_AT_ONCE = 200;

/** `git apply` takes it, whatever the files hold. A file that holds secrets by its name is left out. */
export async function patchBetween(
  git: ShadowGit,
  { before, after }: TreePair,
  paths: readonly string[],
): Promise<Buffer> {
  const shown = paths.filter((path) => !isSecretFile(path.split('/')));
  const parts: Buffer[] = [];
  for (let from = 0; from < shown.length; from += PATHS_AT_ONCE)
    parts.push(
      await git.run(
        [
          'diff-tree',
          '-r',
          '-p',
          '--binary',
          '--full-index',
          '--no-renames',
          '--no-ext-diff',
          '--no-textconv',
          '--src-prefix=a/',
          '--dst-prefix=b/',
          before,
          after,
          '--',
          ...shown.slice(from, from + PATHS_AT_ONCE),
        ],
        { bytesMax: PATCH_BYTES_MAX },
      ),
    );
  return Buffer.concat(parts);
}

export interface Restored {
  done: string[];
  /** Changed by somebody else since: not touched. */
  left: string[];
}

/** Each file as it was before, where it is still as it was left. Done twice, it is the same. */
export async function restore(
  { git, root, check }: { git: ShadowGit; root: string; check: () => void },
  changes: readonly FileChange[],
): Promise<Restored> {
  const restored: Restored = { done: [], left: [] };
  const blobs = await readBlobs(
    git,
    changes.flatMap(({ before }) => (before === null ? [] : [before.blob])),
  );
  for (const { path, before, after } of changes) {
    check();
    const now = stateAt(root, path);
    if (typeof now === 'string') restored.left.push(path);
    else if (isSame(now, before)) restored.done.push(path);
    else if (!isSame(now, after)) restored.left.push(path);
    else {
      const content = before === null ? undefined : blobs.get(before.blob);
      if (before === null) removeAt(root, path);
      else if (content === undefined) throw new Error(`bug: the state holds no content of "${path}"`);
      else writeAt(root, path, { mode: before.mode, content });
      restored.done.push(path);
    }
  }
  return restored;
}
