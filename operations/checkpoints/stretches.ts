/** From the checkpoints of a run to stretches of time: steps that overlapped are one, because nobody can tell them apart. */
import type {
  BesideCheckpoint,
  Checkpoint,
  CheckpointOf,
  Checkpoints,
  ProjectState,
} from '../../prisma/store/contract/checkpoint-contract.ts';
import {
  type Beside,
  type Look,
  looksOf,
  type Own,
  type OwnChange,
  type Segment,
  segmentsOf,
  type Work,
  workOf,
} from './attribution.ts';
import { hasException } from '../../world/files/ignore-rules.ts';
import type { Stretch } from './plan-undo.ts';
import { isOfRecord } from '../../world/git/trees/entries.ts';
import type { ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { readBlobs, type FileChange } from '../../world/git/trees/tree-diffs.ts';

interface Span extends Own {
  name: string;
  from: number;
  to: number | null;
  isUnsure: boolean;
  unseen: string | null;
  before: ProjectState;
  after: ProjectState;
  works: Work[];
  looks: Look[];
}

export interface Stretched {
  root: string;
  /** The project as it is, for steps that nobody saw end. */
  now: ProjectState;
  /** What else was done in the project meanwhile. */
  beside: readonly Beside[];
}

export async function stretchesOf(
  git: ShadowGit,
  checkpoints: readonly Checkpoint[],
  { root, now, beside }: Stretched,
): Promise<Stretch[]> {
  const spans = checkpoints.flatMap((checkpoint) => spanOf(checkpoint, root, now) ?? []);
  const sure = overlapping(spans.filter(({ isUnsure }) => !isUnsure));
  const unsure = spans.filter(({ isUnsure }) => isUnsure);
  const all = [...sure, ...unsure];
  const segments = await segmentsOf(git, all, beside);
  const found = await Promise.all(all.map((span, at) => stretchesIn(git, span, segments[at] ?? [])));
  return found.flat();
}

function spanOf(checkpoint: Checkpoint, root: string, now: ProjectState): Span | null {
  const { before, after, takenAt, begunAt, endedAt, isBackground, skipped } = checkpoint;
  if (before === null) return null;
  const name = nameWithin(root, checkpoint);
  const work = workOf(name, { ...checkpoint, until: endedAt });
  const looks = looksOf(checkpoint, work);
  const begin = { tree: before.tree, earliest: takenAt, latest: begunAt, begins: work };
  const end: Look = { tree: (after ?? now).tree, earliest: begunAt, latest: Number.POSITIVE_INFINITY };
  const [first = begin, last = end] = looks;
  return {
    name,
    from: takenAt,
    to: after === null ? null : endedAt,
    isUnsure: isBackground || after === null,
    unseen: after === null ? skipped : null,
    before,
    after: after ?? now,
    works: [work],
    looks,
    first,
    last,
  };
}

/** One for each time between two looks; one alone of what nobody is sure of. */
async function stretchesIn(git: ShadowGit, span: Span, segments: readonly Segment[]): Promise<Stretch[]> {
  const { name, from, to, isUnsure, unseen, before, after, works } = span;
  const seen = segments.flatMap((segment) => segment.seen);
  const large = largeBetween(before, after).filter((path) =>
    works.some(({ paths }) => paths === null || paths.has(path)),
  );
  const known = { name, isUnsure, unseen, large: new Set(large), changesIgnored: await changesIgnored(git, seen) };
  if (isUnsure) return [{ ...known, from, to, ...apart(summed(segments)) }];
  return segments.map((segment) => ({ ...known, from: segment.from, to: segment.to, ...apart(segment.changes) }));
}

const apart = (changes: readonly OwnChange[]): Pick<Stretch, 'changes' | 'moves'> => ({
  changes: changes.filter(({ path }) => !isOfRecord(path)),
  moves: changes.filter(({ path }) => isOfRecord(path)),
});

/** What became of each file from the first segment to the last. */
export function summed(segments: readonly Segment[]): OwnChange[] {
  const files = new Map<string, OwnChange>();
  for (const change of segments.flatMap(({ changes }) => changes)) {
    const known = files.get(change.path);
    const others = [...new Set([...(known?.others ?? []), ...change.others])];
    files.set(change.path, { ...change, before: known === undefined ? change.before : known.before, others });
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The step's key, behind the keys of the nested runs that lead to it. */
export const nameWithin = (root: string, { handle, key }: Pick<Checkpoint, 'handle' | 'key'>): string =>
  handle === root ? key : `${handle.slice(root.length + 1)}/${key}`;

const isOf = (root: string, handle: string): boolean => handle === root || handle.startsWith(`${root}/`);
const outermost = (handle: string): string => handle.split('/')[0] ?? handle;

/**
 * All that was under way in the project beside some steps. A process that a step of the same run left behind is no
 * other: what the steps account for is theirs. `asking`: the step that takes them back.
 */
export async function besideOf(
  rows: Checkpoints,
  steps: readonly Checkpoint[],
  { root, asking }: { root: string; asking?: CheckpointOf },
): Promise<Beside[]> {
  const [first] = steps.filter(({ before }) => before !== null);
  if (first === undefined) return [];
  const ends = steps.map(({ endedAt }) => endedAt);
  const to = ends.some((end) => end === null) ? null : Math.max(...ends.map((end) => end ?? 0));
  const from = Math.min(...steps.map(({ takenAt }) => takenAt));
  const chosen = new Set(
    [...steps, ...(asking === undefined ? [] : [asking])].map(({ handle, key }) => `${handle} ${key}`),
  );
  return (await rows.beside(first.place, { from, to }))
    .filter(({ handle, key }) => !chosen.has(`${handle} ${key}`))
    .filter(({ handle, isBackground }) => !isBackground || outermost(handle) !== outermost(root))
    .map((one) => besideStep(one, root));
}

export const isOfRun = (beside: readonly Beside[], name: string): boolean =>
  beside.some(({ work, isOfRun: is }) => is && work.name === name);

function besideStep(checkpoint: BesideCheckpoint, root: string): Beside {
  const { handle, key } = checkpoint;
  const work = workOf(isOf(root, handle) ? nameWithin(root, checkpoint) : `${key} of ${handle}`, checkpoint);
  return { work, isOfRun: isOf(root, handle), looks: looksOf(checkpoint, work) };
}

function overlapping(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const known = merged.at(-1);
    if (known === undefined || span.from >= (known.to ?? 0)) {
      merged.push({ ...span });
      continue;
    }
    known.works = [...known.works, ...span.works];
    known.looks = [...known.looks, ...span.looks];
    const { to, after, last } = span;
    if ((to ?? 0) > (known.to ?? 0)) Object.assign(known, { to, after, last });
  }
  return merged;
}

/** Files that changed and were too large to keep, before or after. */
export function largeBetween({ large: before }: ProjectState, { large: after }: ProjectState): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).toSorted();
}

/** Whether files may have come into sight that were there before. A new `.gitignore` does that only with an exception. */
async function changesIgnored(git: ShadowGit, changes: readonly FileChange[]): Promise<boolean> {
  const rules = changes.filter(({ path }) => path === '.gitignore' || path.endsWith('/.gitignore'));
  if (rules.some(({ before }) => before !== null)) return true;
  const blobs = rules.flatMap(({ after }) => (after === null ? [] : [after.blob]));
  const texts = [...(await readBlobs(git, blobs)).values()].map((bytes) => bytes.toString('utf8'));
  return texts.some(hasException);
}
