/**
 * What a segment is given of a list: the results of items that ended before it began stay with the run. A segment adds
 * results and reads none, and would carry all of them to and fro. So a list that has any does not end inside a segment.
 */
import { openIn, type BlockFrame, type BranchFrame, type LoopFrame, type OpenFrame } from './position.ts';

/** Of a strand. */
type Frame = { loop: LoopFrame } | { block: BlockFrame };
type OpenLines = Extract<OpenFrame, { type: 'parallel' }>;

export function withoutListResults(frame: Frame): Frame {
  return 'loop' in frame ? { loop: loopWithout(frame.loop) } : { block: blockWithout(frame.block) };
}

function loopWithout(loop: LoopFrame): LoopFrame {
  const block = blockWithout(loop.block);
  return block === loop.block ? loop : { ...loop, block };
}

/** The same frame where nothing in it is left out. */
function blockWithout(block: BlockFrame): BlockFrame {
  const { step } = block;
  if (step?.type === 'loop') {
    const loop = loopWithout(step.loop);
    return loop === step.loop ? block : { ...block, step: { ...step, loop } };
  }
  if (step?.type === 'condition') {
    const inner = blockWithout(step.block);
    return inner === step.block ? block : { ...block, step: { ...step, block: inner } };
  }
  if (step?.type !== 'parallel') return block;
  const lines = linesWithout(step);
  return lines === step ? block : { ...block, step: lines };
}

function linesWithout(open: OpenLines): OpenLines {
  const { items } = open;
  const branches = open.branches.map((branch) => {
    const block = blockWithout(branch.block);
    return block === branch.block ? branch : { ...branch, block };
  });
  const isSame = branches.every((branch, index) => branch === open.branches[index]);
  if (items === undefined || items.results.every((result) => result === null))
    return isSame ? open : { ...open, branches };
  return { ...open, branches, items: { ...items, results: items.results.map(() => null), areElsewhere: true } };
}

/** Puts the results back into the frame that a segment reports, in place. */
export function returnListResults(before: Frame, after: Frame): void {
  if ('loop' in before && 'loop' in after) toBlock(before.loop.block, after.loop.block);
  else if ('block' in before && 'block' in after) toBlock(before.block, after.block);
}

function toBlock(before: BlockFrame, after: BlockFrame): void {
  const [old, open] = [openIn(before), openIn(after)];
  if (before.at !== after.at || old === undefined || open === undefined) return;
  if (old.type === 'loop' && open.type === 'loop') toBlock(old.loop.block, open.loop.block);
  else if (old.type === 'condition' && open.type === 'condition') toBlock(old.block, open.block);
  else if (old.type === 'parallel' && open.type === 'parallel') toLines(old, open);
}

function toLines(before: OpenLines, after: OpenLines): void {
  const same = (branch: BranchFrame, index: number): BranchFrame | undefined =>
    branch.item === undefined ? before.branches[index] : before.branches.find(({ item }) => item === branch.item);
  for (const [index, branch] of after.branches.entries()) {
    const old = same(branch, index);
    if (old !== undefined) toBlock(old.block, branch.block);
  }
  const { items } = after;
  if (items?.areElsewhere !== true) return;
  items.results = items.results.map((result, index) => result ?? before.items?.results[index] ?? null);
  delete items.areElsewhere;
}
