/**
 * Whether another definition can go on from a position: every step that is open must be there at the
 * same place, with the same type, and hold what is open in it. What lies ahead may differ as it likes.
 */
import type { Definition, LoopConfig, ParallelStep, Step } from '../../language/model.ts';
import {
  openIn,
  type BlockFrame,
  type BranchFrame,
  type LoopFrame,
  type Position,
} from '../../interpreter/position.ts';

/** What of the position has no place in the definition, as sentences; none where it can go on. */
export function frameDifferences(position: Position, definition: Definition): string[] {
  const { cleanUp, loop } = position;
  if (cleanUp !== undefined) return blockDifferences('always', cleanUp.block, definition.always);
  return blockDifferences('steps', loop.block, definition.steps);
}

function blockDifferences(path: string, block: BlockFrame, steps: readonly Step[] | undefined): string[] {
  if (steps === undefined) return [`the run is in "${path}", which the definition does not have`];
  const { at } = block;
  const open = openIn(block) ?? (block.step?.type === 'model' ? { type: 'llm' as const } : undefined);
  if (at > steps.length) return [`the run has passed ${at} steps of "${path}", which has ${steps.length}`];
  if (open === undefined) return [];
  const step = steps[at];
  const place = `${path}.${at}`;
  if (step?.type !== open.type)
    return [
      `"${place}" is an open ${open.type} step, and ${step === undefined ? 'the definition does not have it' : `a ${step.type} step in the definition`}`,
    ];
  if (open.type === 'llm') return [];
  if (step.type === 'condition' && open.type === 'condition') {
    return open.cleanUp === undefined
      ? blockDifferences(`${place}.${open.branch}`, open.block, step[open.branch])
      : blockDifferences(`${place}.always`, open.cleanUp.block, step.always);
  }
  if (step.type === 'loop' && open.type === 'loop')
    return blockDifferences(`${place}.steps`, open.loop.block, step.steps);
  if (step.type !== 'parallel' || open.type !== 'parallel') throw new Error(`bug: a ${step.type} step cannot be open`);
  const { branches, steps: body } = step;
  if (open.items !== undefined) {
    if (step.over === undefined)
      return [`"${place}" is open with items of a list, and the definition has branches there`];
    return open.branches.flatMap(({ block: inner }) => blockDifferences(`${place}.steps`, inner, body));
  }
  if (branches?.length !== open.branches.length) {
    return [
      `"${place}" is open with ${open.branches.length} branches, and the definition has ${branches?.length ?? 0}`,
    ];
  }
  return open.branches.flatMap((branch, index) =>
    blockDifferences(`${place}.branches.${index}`, branch.block, branches[index]),
  );
}

/** Numbers of passes were read when their loops began: those that the definition states anew hold from here on. */
export function adoptBounds(position: Position, before: Definition, after: Definition): void {
  adoptBound(position.loop, before.loop, after.loop);
  adoptInside(position.loop.block, before.steps, after.steps);
}

function adoptBound(frame: LoopFrame, before: LoopConfig, after: LoopConfig): void {
  const [old, max] = [maxOf(before), maxOf(after)];
  if (frame.pass === 0 || max === old || typeof max === 'string') return;
  frame.max = max ?? null;
}

const maxOf = (config: LoopConfig): number | string | undefined => (config.type === 'once' ? undefined : config.max);

function adoptInside(frame: BlockFrame, before: readonly Step[] = [], after: readonly Step[] = []): void {
  const open = openIn(frame);
  const [old, step] = [before[frame.at], after[frame.at]];
  if (open === undefined || old === undefined || step === undefined) return;
  if (open.type === 'loop' && old.type === 'loop' && step.type === 'loop') {
    adoptBound(open.loop, old.loop, step.loop);
    adoptInside(open.loop.block, old.steps, step.steps);
  }
  if (open.type === 'condition' && old.type === 'condition' && step.type === 'condition')
    adoptInside(open.block, old[open.branch], step[open.branch]);
  if (open.type !== 'parallel' || old.type !== 'parallel' || step.type !== 'parallel') return;
  for (const [index, branch] of open.branches.entries())
    adoptInside(branch.block, lineOf(old, branch, index), lineOf(step, branch, index));
}

const lineOf = ({ branches, steps }: ParallelStep, { item }: BranchFrame, index: number): Step[] | undefined =>
  item === undefined ? branches?.[index] : steps;

/** A line of execution that is cleaning up because it was cancelled: why is in no position. */
export function cleansUpCancelled(position: Position): boolean {
  return position.cleanUp === undefined ? isCancelledIn(position.loop.block) : isCancelledIn(position.cleanUp.block);
}

function isCancelledIn(frame: BlockFrame): boolean {
  const open = openIn(frame);
  if (open === undefined) return false;
  if (open.type === 'loop') return isCancelledIn(open.loop.block);
  if (open.type === 'parallel') return open.branches.some((branch) => isCancelledIn(branch.block));
  return open.cleanUp === undefined
    ? isCancelledIn(open.block)
    : open.cleanUp.end.kind === 'cancelled' || isCancelledIn(open.cleanUp.block);
}
