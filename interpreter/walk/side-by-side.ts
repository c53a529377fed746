/** Whether a run has one line of execution, or several. */
import { openIn, type BlockFrame, type Position } from '../position.ts';

/** Whether more than one line of execution may be under way: branches, or calls of a model's turn. */
export function isSideBySide({ loop, cleanUp }: Pick<Position, 'loop' | 'cleanUp'>): boolean {
  return [loop.block, loop.context?.block, cleanUp?.block].some((block) => block !== undefined && hasBranches(block));
}

function hasBranches(frame: BlockFrame): boolean {
  if (frame.step?.type === 'model') return (frame.step.calls?.length ?? 0) > 1;
  const open = openIn(frame);
  switch (open?.type) {
    case undefined:
      return false;
    case 'condition':
      return hasBranches(open.block) || (open.cleanUp !== undefined && hasBranches(open.cleanUp.block));
    case 'loop':
      return hasBranches(open.loop.block);
    case 'parallel':
      return true;
    default:
      return open satisfies never;
  }
}
