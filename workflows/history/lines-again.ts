/**
 * From where the lines of a parallel step have ended to where what failed in them is performed again: a line that failed
 * stands before the step that failed in it, one that was cancelled before the step that was cancelled, and the results of
 * all others stay.
 */
import type { ItemsAgain } from '../../language/events/run-event.ts';
import type { Variables } from '../../interpreter/effect.ts';
import { stepKey } from '../../interpreter/keys.ts';
import { leaveStep, openIn, type BlockFrame, type BranchFrame, type OpenFrame } from '../../interpreter/position.ts';
import type { ItemsFrame } from '../../interpreter/items-frame.ts';

/** A list by the key of its step, and which of its items are performed again; they count from 1. */
export interface ListPick {
  at: string;
  items: 'failed' | readonly number[];
}

/** Where a line of execution stood, from which it goes on again. */
export interface Line {
  path: string;
  passes: readonly number[];
  own: Variables;
  block: BlockFrame;
  /** What is performed again inside it. */
  inside: ItemsAgain[];
}

/** The step whose lines have ended. */
interface Around {
  path: string;
  passes: readonly number[];
}

/** Which items the origin of a run names. */
const shownMax = 100;

type OpenLines = Extract<OpenFrame, { type: 'parallel' }>;

/** Which of the lines is one of the step: the item, or the branch. */
export function numberIn({ path, passes }: Around, line: Pick<Line, 'path' | 'passes'>): number | null {
  if (line.path === `${path}.steps` && stepKey('', line.passes.slice(0, -1)) === stepKey('', passes))
    return line.passes.at(-1) ?? null;
  const before = `${path}.branches.`;
  if (!line.path.startsWith(before) || stepKey('', line.passes) !== stepKey('', passes)) return null;
  const number = line.path.slice(before.length);
  return /^\d+$/.test(number) ? Number(number) : null;
}

/** Whether the step at a path is of type `fail`: it only says what had become of others, and would say it again. */
type IsVerdict = (path: string) => boolean;

/**
 * Changes the frame of the step in place. `lines`: those of the step that go on from an earlier place. Null where nothing
 * is performed again.
 */
export function performAgain(
  open: OpenLines,
  around: Around,
  isVerdict: IsVerdict,
  { pick, lines }: { pick?: ListPick['items'] | undefined; lines: readonly Line[] },
): ItemsAgain[] | null {
  // In the order of branches and items, whichever came to its end first.
  const inside = lines
    .toSorted((a, b) => (numberIn(around, a) ?? 0) - (numberIn(around, b) ?? 0))
    .flatMap((line) => line.inside);
  const numbered = new Map(lines.map((line) => [numberIn(around, line), line]));
  const { items } = open;
  if (items === undefined) {
    open.branches = open.branches.map((branch, index) => {
      const at = { path: `${around.path}.branches.${index}`, passes: around.passes };
      return onAgain(branch, numbered.get(index), at, isVerdict) ?? { status: 'waiting', own: {}, block: { at: 0 } };
    });
    return inside.length === 0 ? null : inside;
  }
  const left: BranchFrame[] = [];
  const again = new Set<number>();
  for (const branch of open.branches) {
    const { item = 0 } = branch;
    const at = { path: `${around.path}.steps`, passes: [...around.passes, item] };
    const line = onAgain(branch, numbered.get(item), at, isVerdict);
    if (line === null) again.add(item);
    else left.push(line);
    numbered.delete(item);
  }
  for (const [item, line] of numbered) {
    if (line !== undefined && item !== null) {
      left.push({ status: 'open', own: line.own, block: line.block, item });
      forget(items, item);
    }
  }
  const stands = new Set(left.map(({ item }) => item));
  for (const item of named(items, pick)) {
    if (stands.has(item) || again.has(item)) continue;
    again.add(item);
    forget(items, item);
  }
  if (left.length === 0 && again.size === 0 && items.begun === items.count) return null;
  open.branches = left.toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0));
  if (again.size > 0) items.again = [...again].toSorted((a, b) => a - b);
  const kept = items.begun - left.length - again.size;
  items.retraced = kept;
  // Whatever is quick in them, a segment may walk again.
  open.left = { times: (open.left?.times ?? 0) + 1, moved: true };
  const performed = Array.from({ length: items.count }, (_, index) => index).filter(
    (index) => index >= items.begun || stands.has(index + 1) || again.has(index + 1),
  );
  const at = stepKey(around.path, around.passes);
  return [{ at, items: performed.slice(0, shownMax), performed: performed.length, kept }, ...inside];
}

const named = ({ failed = [], begun }: ItemsFrame, pick: ListPick['items'] | undefined): readonly number[] =>
  pick === 'failed' ? [...failed] : (pick ?? []).filter((item) => item <= begun);

/** A result that another takes the place of. */
function forget(items: ItemsFrame, item: number): void {
  items.bytes -= JSON.stringify(items.results[item - 1] ?? null).length;
  items.results[item - 1] = null;
  const failed = (items.failed ?? []).filter((other) => other !== item);
  if (failed.length === 0) delete items.failed;
  else items.failed = failed;
}

/** Null where the line begins again. */
function onAgain(branch: BranchFrame, line: Line | undefined, at: Around, isVerdict: IsVerdict): BranchFrame | null {
  const { failure: _failure, ...kept } = branch;
  if (line !== undefined) return { ...kept, status: 'open', own: line.own, block: line.block };
  if (branch.status === 'done' || branch.status === 'waiting') return branch;
  return reopen(kept.block, at, isVerdict) ? { ...kept, status: 'open' } : null;
}

/**
 * Where a step failed, or was cancelled, the line stands before it: before the innermost, as a retry of a run does. False
 * where that is of type `fail`, and the line begins again.
 */
export function reopen(block: BlockFrame, { path, passes }: Around, isVerdict: IsVerdict): boolean {
  const open = openIn(block);
  if (open === undefined || (hasFailed(block) && !holdsFailure(open))) {
    const isOwnVerdict = hasFailed(block) && isVerdict(`${path}.${block.at}`);
    leaveStep(block);
    return !isOwnVerdict;
  }
  block.step = open;
  const step = `${path}.${block.at}`;
  switch (open.type) {
    case 'loop':
      return reopen(open.loop.block, { path: `${step}.steps`, passes: [...passes, open.loop.pass] }, isVerdict);
    case 'condition':
      delete open.cleanUp;
      return reopen(open.block, { path: `${step}.${open.branch}`, passes }, isVerdict);
    case 'parallel':
      performAgain(open, { path: step, passes }, isVerdict, { lines: [] });
      return true;
    default:
      return open satisfies never;
  }
}

const hasFailed = ({ step }: BlockFrame): boolean => step?.type === 'failed' || step?.type === 'resting';

function holdsFailure(open: OpenFrame): boolean {
  if (open.type === 'loop') return hasFailed(open.loop.block);
  if (open.type === 'condition') return hasFailed(open.block);
  return open.branches.some(({ status }) => status === 'failed');
}
