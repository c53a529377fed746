/**
 * What an undo has to move back in the repository, and why it may not.
 *
 * - M1 What is not where the run left it, or may be the work of another, is a conflict, as a file is.
 * - M2 Never touched: work trees, branches that other work trees have checked out, a branch that HEAD stays on, and a
 *      repository that is not the one of the states.
 */
import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { realOf } from '../../own-programs/helper-programs.ts';
import { plainText } from '../../files/plain-file.ts';
import { HEAD, INDEX, nameOf, PLACE, RECORD, WITHOUT, WORK_TREES } from '../trees/entries.ts';
import type { ShadowGit } from '../trees/shadow-git.ts';
import { type FileState, isSame, listTree, readBlobs } from '../trees/tree-diffs.ts';
import { type OwnRepository, ownRepository, Unrecorded } from './find-own.ts';
import { describeMoves, textsOf, valueOf } from './moved.ts';

interface Planned {
  path: string;
  target: FileState;
  expected: FileState;
  doubt: string | null;
}

export interface Move extends Planned {
  name: string;
  current: FileState;
  /** For people; as the run found it, and as it left it. */
  before: string | null;
  after: string | null;
  conflict: string | null;
  /** Why it is left, also where it is forced. */
  obstacle: string | null;
}

export interface States {
  /** The trees of all states that the plan is made from. */
  trees: readonly string[];
  now: string;
  isForced: boolean;
}

export async function planMoves(git: ShadowGit, planned: readonly Planned[], states: States): Promise<Move[]> {
  if (planned.length === 0) return [];
  const held = await listTree(git, states.now, RECORD.slice(0, -1));
  const current = ({ path }: Planned): FileState => held.get(path) ?? null;
  const found = await sameRepository(git, states);
  // Of another repository nobody can say what is as before already.
  const open = typeof found === 'string' ? planned : planned.filter((one) => !isSame(current(one), one.target));
  const described = await describeMoves(
    git,
    open.map(({ path, target: before, expected: after }) => ({ path, before, after })),
  );
  const moves = open.map((one, at): Move => {
    const [name, is] = [nameOf(one.path), current(one)];
    const { before = null, after = null } = described[at] ?? {};
    return { ...one, name, current: is, before, after, conflict: conflictOf(one, is), obstacle: null };
  });
  const head = open.find(({ path }) => nameOf(path) === HEAD);
  const isMade = head !== undefined && (head.target === null || head.expected === null);
  const why = isMade ? 'the run made or removed the repository itself, which no undo does' : found;
  if (typeof why === 'string') return moves.map((move) => ({ ...move, obstacle: why }));
  const others = checkedOut(why);
  const staying = await headAfter(git, moves, held.get(`${RECORD}${HEAD}`) ?? null, states.isForced);
  return moves.map((move) => ({ ...move, obstacle: obstacleOf(move, others, staying) }));
}

function conflictOf({ target, expected, doubt }: Planned, current: FileState): string | null {
  if (doubt !== null) return doubt;
  if (isSame(current, expected) || isSame(current, target)) return null;
  if (current === null) return 'it was deleted since';
  return expected === null ? 'somebody made it since' : 'it was moved since';
}

/** That of all the states and of the project now; otherwise why not. */
async function sameRepository(git: ShadowGit, { trees, now }: States): Promise<OwnRepository | string> {
  try {
    const found = ownRepository(git.project);
    if (found === null) return 'the project has no repository any more';
    const places = await readBlobs(
      git,
      [...new Set([...trees, now])].map((tree) => `${tree}:${RECORD}${PLACE}`),
    );
    const isOther = [...places.values()].some((place) => {
      const text = place.toString('utf8');
      return text !== found.gitFolder && !text.startsWith(WITHOUT);
    });
    return isOther ? 'the project had another repository then' : found;
  } catch (error) {
    if (!(error instanceof Unrecorded)) throw error;
    return `what moves in the repository is not recorded: ${error.message}`;
  }
}

/** Branches of other work trees, with where those lie. */
function checkedOut({ gitFolder, commonFolder }: OwnRepository): Map<string, string> {
  const found = new Map<string, string>();
  const note = (folder: string, place: string): void => {
    const branch = /^ref: (refs\/\S+)/.exec(plainText(join(folder, 'HEAD')) ?? '')?.[1];
    if (branch !== undefined && folder !== gitFolder) found.set(branch, place);
  };
  note(commonFolder, dirname(commonFolder));
  for (const name of namesIn(join(commonFolder, 'worktrees'))) {
    const folder = join(commonFolder, 'worktrees', name);
    const place = plainText(join(folder, 'gitdir'))?.trim();
    if (place !== undefined) note(realOf(folder), dirname(resolve(folder, place)));
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The branch that HEAD is on when all is done. */
async function headAfter(
  git: ShadowGit,
  moves: readonly Move[],
  current: FileState,
  isForced: boolean,
): Promise<string | null> {
  const move = moves.find(({ name }) => name === HEAD);
  const state = move !== undefined && (isForced || move.conflict === null) ? move.target : current;
  return valueOf(HEAD, state, await textsOf(git, [state]));
}

function obstacleOf(move: Move, others: ReadonlyMap<string, string>, staying: string | null): string | null {
  const { name, target, current, before, after } = move;
  if (name.startsWith(WORK_TREES))
    return target === null
      ? `"git worktree remove ${after ?? ''}" does it`
      : `"git worktree add ${before ?? ''}" does it`;
  const place = others.get(name) ?? (name === HEAD ? others.get(before ?? '') : undefined);
  if (place !== undefined && name === HEAD) return `${before ?? ''} is checked out in ${place} now`;
  if (place !== undefined)
    return `it is checked out in ${place}: "git -C ${place} reset --keep ${before ?? 'COMMIT'}" does it`;
  if (target === null && name === staying) return 'it is the branch that stays checked out';
  return name === INDEX && (target === null || current === null) ? 'what is staged cannot be listed' : null;
}
