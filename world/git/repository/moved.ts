/** What moved in the repository between two states, from the entries that changed, and for people to read. */
import { CHECKPOINT_BOUNDS } from '../trees/bounds.ts';
import { SYMLINK } from '../trees/files-in-place.ts';
import type { ShadowGit } from '../trees/shadow-git.ts';
import { type FileChange, type FileState, readBlobs } from '../trees/tree-diffs.ts';
import { COMMIT, INDEX, isOfRecord, nameOf, PLACE, RECORD, STASH } from '../trees/entries.ts';

export interface RefChange {
  /** `HEAD`, a ref by its whole name (`refs/heads/main`), `index`, or `worktrees/NAME`. */
  name: string;
  /** The commit or tag; of `HEAD` on a branch that branch; of a work tree where it lies; of `index` a digest of what is staged. Null: there was none. */
  before: string | null;
  after: string | null;
  /** Entries of `index`; stashes of `refs/stash`. Null for all else. */
  added: number | null;
  removed: number | null;
}

/** What a state without a record, or with that of another repository, says about refs is nothing. */
export function ofOneRepository(changes: readonly FileChange[]): readonly FileChange[] {
  if (!changes.some(({ path }) => isOfRecord(path))) return changes;
  const place = changes.find(({ path }) => path === `${RECORD}${PLACE}`);
  const isAnother = place !== undefined && place.before !== null && place.after !== null;
  return changes.filter(({ path, before, after }) => {
    if (!isOfRecord(path)) return true;
    const isUnknown = nameOf(path) === INDEX && (before === null || after === null);
    return !isAnother && nameOf(path) !== PLACE && !isUnknown;
  });
}

type Moved = Pick<FileChange, 'path' | 'before' | 'after'>;

/** In the order of `changes`, which are of the record. */
export async function describeMoves(git: ShadowGit, changes: readonly Moved[]): Promise<RefChange[]> {
  const texts = await textsOf(
    git,
    changes.flatMap(({ before, after }) => [before, after]),
  );
  return changes.map(({ path, before, after }) => {
    const name = nameOf(path);
    const known = { name, before: valueOf(name, before, texts), after: valueOf(name, after, texts) };
    const end = name === INDEX ? '\0' : name === STASH ? '\n' : null;
    if (end === null) return { ...known, added: null, removed: null };
    const [was, is] = [linesOf(before, texts, end), linesOf(after, texts, end)];
    return { ...known, added: beyond(is, was), removed: beyond(was, is) };
  });
}

/** Of all entries that need one to be read. */
export async function textsOf(git: ShadowGit, states: readonly FileState[]): Promise<ReadonlyMap<string, string>> {
  const blobs = states.flatMap((state) => (state === null || state.mode === COMMIT ? [] : [state.blob]));
  const contents = await readBlobs(git, [...new Set(blobs)], CHECKPOINT_BOUNDS.stagedBytesMax);
  return new Map([...contents].map(([blob, content]) => [blob, content.toString('utf8')]));
}

export function valueOf(name: string, state: FileState, texts: ReadonlyMap<string, string>): string | null {
  if (state === null || state.mode === COMMIT || name === INDEX) return state?.blob ?? null;
  const text = texts.get(state.blob) ?? '';
  return state.mode === SYMLINK ? text : (stashesIn(text).at(-1)?.object ?? null);
}

export interface Stash {
  object: string;
  message: string;
}

export const stashesIn = (text: string): Stash[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ object: line.slice(0, 40), message: line.slice(41) }));

const linesOf = (state: FileState, texts: ReadonlyMap<string, string>, end: string): ReadonlySet<string> =>
  new Set((state === null ? '' : (texts.get(state.blob) ?? '')).split(end).filter(Boolean));

const beyond = (some: ReadonlySet<string>, others: ReadonlySet<string>): number =>
  [...some].filter((line) => !others.has(line)).length;
