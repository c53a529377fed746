/**
 * What an undo has to do to each file, from what the steps did to it. Pure.
 *
 * - U1 A file is put back to the state before the first of the steps that changed it.
 * - U2 It is expected in the state after the last of them. Anything else is a conflict, and so is a file that
 *      changed between two of them, or that nobody can say who changed: a step, a process beside it, or another run.
 */
import { besides } from './attribution.ts';
import { isSame, type FileChange, type FileState } from '../../world/git/trees/tree-diffs.ts';

/** A stretch of time in which steps changed files: one step, or several that overlapped. */
export interface Stretch {
  /** For people: the step, or the first of several. */
  name: string;
  from: number;
  /** Null: nobody saw its end. */
  to: number | null;
  /** Somebody else may have changed files as well: a background process, or an end that nobody saw. */
  isUnsure: boolean;
  /** Why no state was taken when it had ended; null where one was, or nobody saw it end. */
  unseen: string | null;
  /** `others`: steps of others that may have done it, because they were under way as well. */
  changes: readonly (FileChange & { others?: readonly string[] })[];
  /** The same of what moved in the repository. */
  moves: Stretch['changes'];
  /** A `.gitignore` changed: files that appear may have been there. */
  changesIgnored: boolean;
  /** Files that were, or are, too large to keep. */
  large: ReadonlySet<string>;
}

export interface PlannedFile {
  path: string;
  target: FileState;
  expected: FileState;
  /** Why it is a conflict even in the expected state. */
  doubt: string | null;
}

export interface Plan {
  files: PlannedFile[];
  /** Changed by the steps, and not kept. */
  large: string[];
}

interface Chained extends PlannedFile {
  by: string;
  from: number;
  to: number;
}

/** `stretches` in the order of time. */
export function planUndo(stretches: readonly Stretch[]): Plan {
  const files = new Map<string, Chained>();
  const large = new Set<string>();
  for (const stretch of stretches.filter(({ isUnsure }) => !isUnsure)) {
    for (const path of stretch.large) large.add(path);
    for (const change of stretch.changes) chain(files, stretch, change);
  }
  for (const stretch of stretches.filter(({ isUnsure }) => isUnsure)) {
    for (const path of stretch.large) large.add(path);
    for (const change of stretch.changes) doubt(files, stretch, change);
  }
  const planned = [...files.values()]
    .filter(({ path, target, expected }) => !large.has(path) && !isSame(target, expected))
    .map(({ path, target, expected, doubt: why }) => ({ path, target, expected, doubt: why }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files: planned, large: [...large].toSorted() };
}

function chain(
  files: Map<string, Chained>,
  stretch: Stretch,
  { path, before, after, others = [] }: Stretch['changes'][number],
): void {
  const known = files.get(path);
  const to = stretch.to ?? stretch.from;
  const revealed = before === null && stretch.changesIgnored;
  const { name: by } = stretch;
  const hidden = revealed ? 'it may have been there before, left out by a .gitignore that changed' : null;
  const shared = `it changed while ${besides(others)} ran beside ${by}, so it may be the work of either`;
  const why = hidden ?? (others.length > 0 ? shared : null);
  if (known === undefined) {
    files.set(path, { path, target: before, expected: after, doubt: why, from: stretch.from, to, by });
    return;
  }
  const when = known.by === by ? 'while' : 'before';
  if (!isSame(known.expected, before))
    known.doubt ??= `somebody else changed it ${when} ${by}${when === 'while' ? ' ran' : ''}`;
  known.doubt ??= why;
  known.by = by;
  known.expected = after;
  known.to = to;
}

/** What the other steps account for is theirs. */
function doubt(files: Map<string, Chained>, stretch: Stretch, { path, before, after }: FileChange): void {
  const why = doubtAbout(stretch);
  const known = files.get(path);
  const to = stretch.to ?? Number.POSITIVE_INFINITY;
  if (known === undefined) {
    files.set(path, { path, target: before, expected: after, doubt: why, from: stretch.from, to, by: stretch.name });
    return;
  }
  if (stretch.from <= known.from && !isSame(known.target, before)) {
    known.target = before;
    known.doubt ??= why;
  }
  if (to >= known.to && !isSame(known.expected, after)) {
    known.expected = after;
    known.doubt ??= why;
  }
}

function doubtAbout({ name, to, unseen }: Stretch): string {
  if (to !== null) return `it changed while ${name} ran in the background, which may be its work or somebody else's`;
  return unseen === null
    ? `nobody saw ${name} end, so it may be its work or somebody else's`
    : `no state was taken when ${name} had ended (${unseen}), so it may be its work or somebody else's`;
}
