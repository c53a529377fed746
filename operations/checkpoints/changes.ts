/** What the steps of a run changed in its project, step by step. */
import type { Checkpoint, Checkpoints } from '../../prisma/store/contract/checkpoint-contract.ts';
import { ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { isOfRecord, RECORD } from '../../world/git/trees/entries.ts';
import { describeMoves, type RefChange } from '../../world/git/repository/moved.ts';
import { looksOf, segmentsOf, workOf } from './attribution.ts';
import { besideOf, isOfRun, largeBetween, nameWithin, summed } from './stretches.ts';
import { countChanges, patchOf, type CountedChange } from '../../world/git/trees/tree-diffs.ts';
import { checkPlace, isMeant, noSuchCheckpoint, orRefused } from './undo.ts';

export interface StepChanges {
  /** Behind the keys of the nested runs that lead to the step. */
  key: string;
  /** `shell`, the name of a command, or `undo`. */
  what: string;
  at: number;
  /** `changed`; `unknown`: nobody saw it end, or it has not yet, or no state could be taken then (`why`); `skipped`: no state was taken, and `why` says why. */
  state: 'changed' | 'unknown' | 'skipped';
  why: string | null;
  isBackground: boolean;
  /** `others`: steps of other runs that were under way when it changed, and may have done it. */
  files: (CountedChange & { others: readonly string[] })[];
  /** What it moved in the git repository of the project: HEAD, branches, tags, what is staged, stashes, work trees. */
  refs: (RefChange & { others: readonly string[] })[];
  /** Changed, and too large to keep. */
  large: string[];
  /** A unified diff, where it was asked for. */
  patch: string | null;
  isCut: boolean;
}

export interface ChangesQuery {
  handle: string;
  key?: string | undefined;
  patches: boolean;
}

/** Steps that could have written and changed nothing are left out. */
export async function changesOf(rows: Checkpoints, { handle, key, patches }: ChangesQuery): Promise<StepChanges[]> {
  const all = await rows.ofRun(handle);
  const meant = key === undefined ? all : all.filter((one) => isMeant(nameWithin(handle, one), key));
  if (key !== undefined && meant.length === 0)
    throw noSuchCheckpoint(
      handle,
      key,
      all.map((one) => nameWithin(handle, one)),
    );
  const found: StepChanges[] = [];
  for (const checkpoint of meant) {
    const changes = await orRefused(() => stepChanges(rows, checkpoint, { handle, patches }));
    const { state, files, refs, large } = changes;
    if (state !== 'changed' || files.length + refs.length + large.length > 0) found.push(changes);
  }
  return found;
}

async function stepChanges(
  rows: Checkpoints,
  checkpoint: Checkpoint,
  { handle, patches }: { handle: string; patches: boolean },
): Promise<StepChanges> {
  const { before, after, what, takenAt: at, isBackground, skipped, place, project } = checkpoint;
  const known = { key: nameWithin(handle, checkpoint), what, at, isBackground };
  const none = { why: null, files: [], refs: [], large: [], patch: null, isCut: false };
  if (before === null) return { ...known, ...none, state: 'skipped', why: skipped };
  if (after === null) return { ...known, ...none, state: 'unknown', why: skipped };
  const isOwn = (path: string): boolean => checkpoint.paths === null || checkpoint.paths.includes(path);
  const large = largeBetween(before, after).filter(isOwn);
  if (before.tree === after.tree) return { ...known, ...none, state: 'changed', large };
  checkPlace(place, project);
  const git = ShadowGit.reading(place, project);
  const pair = { before: before.tree, after: after.tree };
  const work = workOf(known.key, { ...checkpoint, until: checkpoint.endedAt });
  const looks = looksOf(checkpoint, work);
  const [first, last] = looks;
  if (first === undefined || last === undefined) return { ...known, ...none, state: 'unknown', why: skipped };
  const beside = await besideOf(rows, [checkpoint], { root: handle });
  const [segments = []] = await segmentsOf(git, [{ works: [work], first, last, looks }], beside);
  const changed = summed(segments);
  const others = new Map(changed.map(({ path, others: all }) => [path, all.filter((name) => !isOfRun(beside, name))]));
  const isKept = new Set(large);
  const ofFiles = changed.filter(({ path }) => !isOfRecord(path));
  const files = (await countChanges(git, pair, ofFiles))
    .filter(({ path }) => !isKept.has(path))
    .map((file) => ({ ...file, others: others.get(file.path) ?? [] }));
  const moved = changed.filter(({ path }) => isOfRecord(path));
  const refs = (await describeMoves(git, moved)).map((ref) => ({
    ...ref,
    others: others.get(`${RECORD}${ref.name}`) ?? [],
  }));
  const isAllOwn = segments.every(({ seen, changes }) => seen.length === changes.length);
  const only = isAllOwn ? null : ofFiles.map(({ path }) => path);
  const { text, isCut } = patches ? await patchOf(git, pair, only) : { text: null, isCut: false };
  return { ...known, state: 'changed', why: null, files, refs, large, patch: text, isCut };
}
