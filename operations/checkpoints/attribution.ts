/**
 * Whose a change is, where steps of several runs were under way in one project.
 *
 * Every state that was taken is a look at the project, of whichever run it is. Between two looks that follow each
 * other, a change is that of a step which was at work then. Of several, it is the one whose record names the file: a
 * command that writes named files writes no other. Where that does not tell, nobody can.
 */
import type { BesideCheckpoint, Checkpoint } from '../../prisma/store/contract/checkpoint-contract.ts';
import { ofOneRepository } from '../../world/git/repository/moved.ts';
import type { ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { diffTrees, type FileChange } from '../../world/git/trees/tree-diffs.ts';

/** What a step did lies between the end of one look and the begin of the next. */
export interface Work {
  name: string;
  begunAt: number;
  closedAt: number;
  /** Null: any. */
  paths: ReadonlySet<string> | null;
}

/** The project as it was at some moment between two. */
export interface Look {
  tree: string;
  earliest: number;
  latest: number;
  /** Whose begin or end it is: that one was not at work before, or after. */
  begins?: Work;
  ends?: Work;
}

/** In some stretch of time, done by the steps that are asked about. */
export interface OwnChange extends FileChange {
  /** Others who may have done it instead. */
  others: readonly string[];
}

export interface Segment {
  from: number;
  to: number;
  /** Whoever did it. */
  seen: readonly FileChange[];
  changes: OwnChange[];
}

/** Steps that are not asked about, in the same project. */
export interface Beside {
  work: Work;
  /** Of the run that is asked about, or nested in it. */
  isOfRun: boolean;
  looks: Look[];
}

export const workOf = (
  name: string,
  { begunAt, closedAt, paths, until }: Pick<BesideCheckpoint, 'begunAt' | 'closedAt' | 'paths' | 'until'>,
): Work => ({
  name,
  begunAt,
  closedAt: closedAt ?? until ?? Number.POSITIVE_INFINITY,
  paths: paths === null ? null : new Set(paths),
});

export function looksOf(checkpoint: Checkpoint, work: Work): Look[] {
  const { before, after, takenAt, begunAt, closedAt, endedAt } = checkpoint;
  const looks: Look[] = [];
  if (before !== null) looks.push({ tree: before.tree, earliest: takenAt, latest: begunAt, begins: work });
  if (after !== null && closedAt !== null && endedAt !== null)
    looks.push({ tree: after.tree, earliest: closedAt, latest: endedAt, ends: work });
  return looks;
}

/** The steps that are asked about, of one stretch of time. */
export interface Own {
  works: readonly Work[];
  first: Look;
  last: Look;
  looks: readonly Look[];
}

/** Of each stretch, from its first look to its last. */
export async function segmentsOf(
  git: ShadowGit,
  stretches: readonly Own[],
  beside: readonly Beside[],
): Promise<Segment[][]> {
  const planned = stretches.map((own) => segmentsIn(own, beside));
  const pairs = planned.flat().map(({ before, after }) => ({ before: before.tree, after: after.tree }));
  const diffs = (await diffTrees(git, pairs)).values();
  return planned.map((segments) =>
    segments.map(({ before, after, mine, theirs }) => {
      const seen = ofOneRepository(diffs.next().value ?? []);
      const changes = seen.flatMap((change) => ownChange(change, mine, theirs));
      return { from: before.earliest, to: after.latest, seen, changes };
    }),
  );
}

interface Planned {
  before: Look;
  after: Look;
  mine: readonly Work[];
  theirs: readonly Work[];
}

/** Without others, and where the steps may write anything, there is one. */
function segmentsIn({ works, first, last, looks: own }: Own, beside: readonly Beside[]): Planned[] {
  const others = beside.filter(({ work }) => work.begunAt <= last.latest && work.closedAt >= first.earliest);
  const isPlain = others.length === 0 && works.every(({ paths }) => paths === null);
  const inner = [...(isPlain ? [] : own), ...others.flatMap(({ looks }) => looks)]
    .filter((look) => look !== first && look !== last)
    .filter(({ earliest, latest }) => earliest >= first.earliest && latest <= last.latest)
    .toSorted((a, b) => a.earliest + a.latest - (b.earliest + b.latest));
  const looks = [first, ...inner, last];
  return looks.slice(1).map((after, at) => {
    const before = looks[at] ?? first;
    const isAtWork = (work: Work): boolean => wasAtWork(work, before, after);
    return {
      before,
      after,
      mine: works.filter(isAtWork),
      theirs: others.map(({ work }) => work).filter(isAtWork),
    };
  });
}

/** Between two looks: the earliest moment of the one, and the latest of the other. */
function wasAtWork(work: Work, before: Look, after: Look): boolean {
  if (after.begins === work || before.ends === work) return false;
  return work.begunAt <= after.latest && work.closedAt >= before.earliest;
}

const names = (work: Work, path: string): boolean => work.paths?.has(path) === true;
const mayWrite = (work: Work, path: string): boolean => work.paths === null || work.paths.has(path);

function ownChange(change: FileChange, mine: readonly Work[], theirs: readonly Work[]): OwnChange[] {
  const { path } = change;
  if (!mine.some((work) => mayWrite(work, path))) return [];
  const isNamed = mine.some((work) => names(work, path));
  const claims = theirs.filter((work) => names(work, path));
  if (claims.length > 0) return isNamed ? [{ ...change, others: claims.map(({ name }) => name) }] : [];
  const able = isNamed ? [] : theirs.filter((work) => mayWrite(work, path));
  return [{ ...change, others: able.map(({ name }) => name) }];
}

/** As the second half of a sentence. */
export const besides = (others: readonly string[]): string =>
  others.length > 3 ? `${others.slice(0, 2).join(', ')} and ${others.length - 2} more` : others.join(', ');
