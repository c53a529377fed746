/**
 * Takes back what the steps of a run did to the files of its project.
 *
 * - D1 Only files that these steps changed are touched, and each only in the state that they left it in. Is one
 *      of them in another, nothing is restored, unless it is forced.
 * - D2 Nothing is lost: what is replaced stands in the state before the undo, which is a checkpoint like that of
 *      a step. What cannot stand there is left as it is, also where it is forced.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Checkpoint, Checkpoints, ProjectState } from '../../prisma/store/contract/checkpoint-contract.ts';
import { type Access, isProtectedFrom } from '../../world/confinement/confine.ts';
import { protectionOf } from '../../world/confinement/protected-places.ts';
import { Failure } from '../../world/failures/failures.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import { removeAt, stateAt, writeAt, type Found } from '../../world/git/trees/files-in-place.ts';
import { type Plan, planUndo, type PlannedFile, type Stretch } from './plan-undo.ts';
import { moveRefs } from '../../world/git/repository/move-refs.ts';
import { type Move, planMoves } from '../../world/git/repository/plan-moves.ts';
import { ProjectTrees } from './project-trees.ts';
import { GitTrouble, ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { besideOf, nameWithin, stretchesOf } from './stretches.ts';
import type { Beside } from './attribution.ts';
import { isSame, listTree, readBlobs, type FileState } from '../../world/git/trees/tree-diffs.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export interface UndoRequest {
  /** The run; what runs nested in it did is taken back, too. */
  handle: string;
  /** From this step on; `steps.2` means all that was done at it. Without it the whole run. */
  key?: string | undefined;
  /** This step alone. */
  only?: boolean | undefined;
  force?: boolean | undefined;
  /** What is in conflict is left, and the rest taken back. */
  sure?: boolean | undefined;
  dryRun?: boolean | undefined;
  /** What the run moved in the git repository is moved back as well: HEAD, branches, tags, stashes, what is staged. */
  refs?: boolean | undefined;
}

export type PathFinding = { path: string; why: string };

export type MovedBack = {
  /** `HEAD`, a ref by its whole name, `index`, or `worktrees/NAME`. */
  name: string;
  /** As the run found it, and as it left it. */
  before: string | null;
  after: string | null;
  /** Whether it is as before again. */
  done: boolean;
  why: string | null;
};

export type Undone = {
  handle: string;
  /** Put back, or, where nothing was done, what would be. */
  files: { path: string; done: 'restored' | 'removed' }[];
  /** What the run moved in the git repository; a conflict of one is among `conflicts`, by its name. */
  refs: MovedBack[];
  /** Why nothing was done; with `force` what was done in spite of it. */
  conflicts: PathFinding[];
  /** Not touched. */
  left: PathFinding[];
  /** Steps of which there is no state before, so that nothing of them is taken back. */
  gaps: { key: string; why: string }[];
  /** False: conflicts, or only a look. */
  done: boolean;
  /** Key of the checkpoint by which the undo is taken back. */
  undo: string | null;
};

export interface Place {
  trees: ProjectTrees;
  /** The project as it is now, kept. */
  now: ProjectState;
  /** What else was done in the project while the steps ran. */
  beside: readonly Beside[];
  /** Of the step that asks; absent for a person. */
  access?: Access | undefined;
}

interface Wanted extends PlannedFile {
  found: Found;
}

/** What git cannot read no attempt can. */
export async function orRefused<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GitTrouble)) throw error;
    throw new Failure('UNDO_REFUSED', `the states of the project cannot be used (${error.message})`, { cause: error });
  }
}

/** Checkpoints of a run, and those of them that an undo takes back. */
export interface Chosen {
  all: readonly Checkpoint[];
  chosen: readonly Checkpoint[];
}

/** What was asked for of steps that ran in one folder; `access`: of the step that asks. */
export async function undoInPlace(
  rows: Checkpoints,
  request: UndoRequest & { access?: Access | undefined },
  { all, chosen: checkpoints }: Chosen,
): Promise<Undone> {
  const first = checkpoints.find(({ before }) => before !== null);
  if (first === undefined) return { ...nothing(request.handle), gaps: gapsOf(checkpoints, request.handle) };
  const { place, project } = first;
  checkPlace(place, project);
  const trees = new ProjectTrees(await ShadowGit.open(place, project));
  try {
    const takenAt = Date.now();
    const now = await trees.take();
    const begunAt = Date.now();
    const beside = await besideOf(rows, checkpoints, { root: request.handle });
    if (request.dryRun === true)
      return await undoSteps(checkpoints, { trees, now, beside, access: request.access }, request);
    const own = { handle: request.handle, key: nextKey(all, request.handle) };
    let isBegun = false;
    const undone = await undoSteps(
      checkpoints,
      { trees, now, beside, access: request.access },
      request,
      async (paths) => {
        const kept = { what: 'undo', project, place, isBackground: false, before: now, skipped: null };
        await rows.begin({ ...own, ...kept, takenAt, begunAt, paths });
        isBegun = true;
      },
    );
    if (!isBegun) return undone;
    const closedAt = Date.now();
    await rows.end(own, await trees.take(), { closedAt, endedAt: Date.now() });
    return { ...undone, undo: own.key };
  } finally {
    trees.close();
    await trees.git.forgetIndex();
  }
}

export const refused = (finding: string): Failure => new Failure('UNDO_REFUSED', finding);

const nothing = (handle: string): Undone => ({
  handle,
  files: [],
  refs: [],
  conflicts: [],
  left: [],
  gaps: [],
  done: true,
  undo: null,
});

export function checkPlace(place: string, project: string): void {
  if (!existsSync(project))
    throw refused(`the project ${project} is not on this host; say this on the host of the worker`);
  if (!existsSync(join(place, 'objects')))
    throw refused(
      `the states of the project are not in ${place}; they are kept for 30 days, on the host of the worker that ran the steps`,
    );
}

/** Whether a step is meant by a key: that very one, or all that was done at a path. */
export function isMeant(name: string, key: string): boolean {
  return name === key || (name.startsWith(key) && /^[@#~./]/.test(name.slice(key.length)));
}

export function selected(all: readonly Checkpoint[], request: UndoRequest, mayLack?: RegExp): readonly Checkpoint[] {
  const chosen = meant(all, request);
  const { handle, key } = request;
  if (key === undefined || chosen.length > 0 || mayLack?.test(key) === true) return chosen;
  const names = all.map((checkpoint) => nameWithin(handle, checkpoint));
  throw noSuchCheckpoint(handle, key, names);
}

/** Where a step of a run may be; a step that has written nothing has no checkpoint. */
export const STEP_KEY = /^(?:steps|always)[.]/;

function meant(all: readonly Checkpoint[], { handle, key, only }: UndoRequest): readonly Checkpoint[] {
  if (key === undefined) return all;
  const isChosen = (one: Checkpoint): boolean => isMeant(nameWithin(handle, one), key);
  if (only === true) return all.filter(isChosen);
  const first = all.findIndex(isChosen);
  return first === -1 ? [] : all.slice(first);
}

const namedMax = 12;

export function noSuchCheckpoint(handle: string, key: string, names: readonly string[]): Failure {
  const some = names.slice(-namedMax).join(', ');
  const remedy = names.length === 0 ? 'none of its steps could have written' : `those that could have: ${some}`;
  return refused(`${handle} has no step "${key}" that could have written to the project; ${remedy}`);
}

function nextKey(all: readonly Checkpoint[], handle: string): string {
  const numbers = all.flatMap((one) => (one.handle === handle ? [Number(/^undo-(\d+)$/.exec(one.key)?.[1] ?? 0)] : []));
  return `undo-${Math.max(0, ...numbers) + 1}`;
}

export const gapsOf = (checkpoints: readonly Checkpoint[], root: string): Undone['gaps'] =>
  checkpoints.flatMap((checkpoint) =>
    checkpoint.before === null
      ? [{ key: nameWithin(root, checkpoint), why: checkpoint.skipped ?? 'no state was taken' }]
      : [],
  );

/** Of steps that ran in one folder. `begin`: called before the first file is touched. */
export async function undoSteps(
  checkpoints: readonly Checkpoint[],
  { trees, now, beside, access = {} }: Place,
  { handle, force, sure, dryRun, refs }: UndoRequest,
  begin?: (paths: string[]) => Promise<void>,
): Promise<Undone> {
  const { git } = trees;
  const stretches = await stretchesOf(git, checkpoints, { root: handle, now, beside });
  const { wanted, conflicts, left } = planFiles(git, planUndo(stretches), access);
  const moves = await planMoves(git, planUndo(stretches.map(movesOf)).files, {
    trees: checkpoints.flatMap(({ before, after }) => [before, after].flatMap((state) => state?.tree ?? [])),
    now: now.tree,
    isForced: force === true,
  });
  const doubted = refs === true ? moves.filter(({ obstacle, conflict }) => obstacle === null && conflict !== null) : [];
  const all = [...conflicts, ...doubted.map(({ name, conflict }) => ({ path: name, why: conflict ?? '' }))];
  const isHeld = all.length > 0 && force !== true && sure !== true;
  if (sure === true) setAside(wanted, conflicts, left);
  const files = wanted.map(({ path, target }) => ({ path, done: target === null ? 'removed' : 'restored' }) as const);
  const rows = moves.map((move) => rowOf(move, refs === true));
  const gaps = gapsOf(checkpoints, handle);
  const shown = sure === true ? [] : all;
  const report: Undone = { handle, files, refs: rows, conflicts: shown, left, gaps, done: false, undo: null };
  if (isHeld || dryRun === true) return report;
  const kept = conflicts.length === 0 ? wanted : await keptAlready(git, now, wanted, report);
  const moved = refs === true ? moves.filter((move) => mayMove(move, force === true)) : [];
  if (kept.length + moved.length > 0) await begin?.([...kept, ...moved].map(({ path }) => path));
  crashPoint('undo.begun', { handle });
  return trees.alone(async () => {
    const put = await putBack(git, kept, report);
    const unmoved = moved.length === 0 ? new Map<string, string>() : await moveRefs(git, moved, { handle });
    crashPoint('undo.done', { handle });
    const back = new Set(moved.map(({ name }) => name).filter((name) => !unmoved.has(name)));
    const told = rows.map((row) => ({ ...row, done: back.has(row.name), why: whyOf(row, back, unmoved) }));
    return { ...report, files: put, refs: told, done: true };
  });
}

const mayMove = ({ obstacle, conflict }: Move, isForced: boolean): boolean =>
  obstacle === null && (isForced || conflict === null);

const rowOf = ({ name, before, after, obstacle, conflict }: Move, isAsked: boolean): MovedBack => {
  const why = obstacle ?? (isAsked ? conflict : null);
  return { name, before, after, done: false, why };
};

const whyOf = (
  { name, why }: MovedBack,
  back: ReadonlySet<string>,
  unmoved: ReadonlyMap<string, string>,
): string | null => (back.has(name) ? null : (unmoved.get(name) ?? why));

/** The same plan for what moved in the repository. */
const movesOf = (stretch: Stretch): Stretch => ({
  ...stretch,
  changes: stretch.moves,
  changesIgnored: false,
  large: new Set(),
});

function planFiles(
  git: ShadowGit,
  { files, large }: Plan,
  access: Access,
): { wanted: Wanted[]; conflicts: PathFinding[]; left: PathFinding[] } {
  const left: PathFinding[] = large.map((path) => ({ path, why: `was, or is, too large to keep (${bytesMax})` }));
  const wanted: Wanted[] = [];
  const conflicts: PathFinding[] = [];
  for (const file of files) {
    const found = stateAt(git.project, file.path);
    const why = untouchable(git.project, file, found, access);
    const current = found === 'folder' ? null : found;
    if (why !== null) left.push({ path: file.path, why });
    else if (!isState(current) || !isSame(current, file.target)) {
      wanted.push({ ...file, found });
      const conflict = file.doubt ?? (isState(current) ? conflictOf(current, file.expected) : null);
      if (conflict !== null) conflicts.push({ path: file.path, why: conflict });
    }
  }
  return { wanted, conflicts, left };
}

/** What may be somebody else's stays. */
function setAside(wanted: Wanted[], conflicts: PathFinding[], left: PathFinding[]): void {
  const held = new Set(conflicts.map(({ path }) => path));
  wanted.splice(0, wanted.length, ...wanted.filter(({ path }) => !held.has(path)));
  left.push(...conflicts.splice(0));
}

const bytesMax = `${CHECKPOINT_BOUNDS.fileBytesMax / 1024 / 1024} MiB`;

const isState = (found: Found): found is FileState => found === null || typeof found === 'object';

function untouchable(root: string, { path, target }: PlannedFile, found: Found, access: Access): string | null {
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..')) return 'leads out of the project';
  const protection = protectionOf(root, join(root, path));
  if (protection === 'home') return 'lies in a home of Sentinel';
  if (protection === 'repository') return 'lies in a git repository, which only git writes';
  if (protection === 'run-later' && access.mode === 'sandboxed')
    return 'is what the command line runs later, and the run is "sandboxed"';
  if (access.byModel === true && isProtectedFrom(root, join(root, path), access)) return 'is protected from models';
  if (found === 'large') return `is too large now to be kept (${bytesMax}), so nothing replaces it`;
  if (found === 'other') return 'is no file';
  return target === null && found === 'folder' ? 'is a folder now' : null;
}

function conflictOf(current: FileState, expected: FileState): string | null {
  if (isSame(current, expected)) return null;
  if (current === null) return 'it was deleted since';
  return expected === null ? 'somebody made it since' : 'it was changed since';
}

/** Of what is forced, only what the state before the undo holds. */
async function keptAlready(
  git: ShadowGit,
  now: ProjectState,
  wanted: readonly Wanted[],
  { left }: Undone,
): Promise<Wanted[]> {
  const held = await listTree(git, now.tree);
  return wanted.filter(({ path, found }) => {
    if (!isState(found) || found === null || isSame(held.get(path) ?? null, found)) return true;
    left.push({
      path,
      why: 'its present content could not be kept (ignored, or just changed), so nothing replaces it',
    });
    return false;
  });
}

/** First what goes, the deepest before the folders around it; then what comes. */
async function putBack(git: ShadowGit, wanted: readonly Wanted[], { left }: Undone): Promise<Undone['files']> {
  const done: Undone['files'] = [];
  const gone = wanted.filter(({ target }) => target === null).toReversed();
  const back = wanted.filter(({ target }) => target !== null);
  const put = async (file: Wanted, act: () => void, deed: 'restored' | 'removed'): Promise<void> => {
    if ((done.length + left.length) % 100 === 99) await breathe();
    try {
      const found = stateAt(git.project, file.path);
      const isAsSeen = isState(found) && isState(file.found) ? isSame(found, file.found) : found === file.found;
      // A folder that was in the way may have gone with the last file in it.
      if (!isAsSeen && !(file.found === 'folder' && found === null)) throw new Error('it changed during the undo');
      act();
      done.push({ path: file.path, done: deed });
      if (done.length === 1) crashPoint('undo.half');
    } catch (error) {
      left.push({ path: file.path, why: error instanceof Error ? error.message : String(error) });
    }
  };
  for (const file of gone) await put(file, () => removeAt(git.project, file.path), 'removed');
  for (let at = 0; at < back.length; at += CHECKPOINT_BOUNDS.blobsAtOnce) {
    const some = back.slice(at, at + CHECKPOINT_BOUNDS.blobsAtOnce);
    const contents = await readBlobs(git, [...new Set(some.flatMap(({ target }) => target?.blob ?? []))]);
    for (const file of some)
      await put(
        file,
        () => {
          const content = contents.get(file.target?.blob ?? '');
          if (content === undefined || file.target === null) throw new Error('its state before is no longer kept');
          writeAt(git.project, file.path, { mode: file.target.mode, content });
        },
        'restored',
      );
  }
  return done.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
