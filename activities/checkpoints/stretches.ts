/** From the checkpoints of a run to stretches of time: steps that overlapped are one, because nobody can tell them apart. */
import type { Checkpoint, ProjectState } from '../../prisma/store/contract/checkpoint-contract.ts';
import type { Stretch } from './plan-undo.ts';
import type { ShadowGit } from './shadow-git.ts';
import { diffTrees, readBlobs, type FileChange } from './tree-diffs.ts';

interface Span {
  name: string;
  from: number;
  to: number | null;
  isUnsure: boolean;
  unseen: string | null;
  before: ProjectState;
  after: ProjectState;
}

/** `now`: the project as it is, for steps that nobody saw end. */
export async function stretchesOf(
  git: ShadowGit,
  checkpoints: readonly Checkpoint[],
  { root, now }: { root: string; now: ProjectState },
): Promise<Stretch[]> {
  const spans = checkpoints.flatMap((checkpoint): Span[] => {
    const { before, after, takenAt, endedAt, isBackground, skipped } = checkpoint;
    if (before === null) return [];
    const isUnsure = isBackground || after === null;
    const to = after === null ? null : endedAt;
    const unseen = after === null ? skipped : null;
    return [{ name: nameWithin(root, checkpoint), from: takenAt, to, isUnsure, unseen, before, after: after ?? now }];
  });
  const sure = overlapping(spans.filter(({ isUnsure }) => !isUnsure));
  const all = [...sure, ...spans.filter(({ isUnsure }) => isUnsure)].toSorted((a, b) => a.from - b.from);
  const changes = await diffTrees(
    git,
    all.map(({ before, after }) => ({ before: before.tree, after: after.tree })),
  );
  return Promise.all(
    all.map(async ({ name, from, to, isUnsure, unseen, before, after }, index) => {
      const own = changes[index] ?? [];
      return {
        name,
        from,
        to,
        isUnsure,
        unseen,
        changes: own,
        changesIgnored: await changesIgnored(git, own),
        large: new Set(largeBetween(before, after)),
      };
    }),
  );
}

/** The step's key, behind the keys of the nested runs that lead to it. */
export const nameWithin = (root: string, { handle, key }: Pick<Checkpoint, 'handle' | 'key'>): string =>
  handle === root ? key : `${handle.slice(root.length + 1)}/${key}`;

function overlapping(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || span.from >= (last.to ?? 0)) merged.push({ ...span });
    else if ((span.to ?? 0) > (last.to ?? 0)) Object.assign(last, { to: span.to, after: span.after });
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
  return texts.some((text) => /^\s*!/m.test(text));
}
