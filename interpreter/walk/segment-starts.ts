/**
 * Where segments begin: at a quick step, and at a parallel step whose branches begin with quick ones. A parallel step that
 * a segment had to leave open, because it had done its share, is gone on with by another.
 */
import { isQuickFan, isQuickWithin } from '../../language/blocks.ts';
import type { Step } from '../../language/model.ts';
import type { Host } from '../host.ts';
import type { BlockFrame, OpenFrame } from '../position.ts';
import type { Walk } from '../walk-state.ts';

export function beginsSegment(step: Step, host: Pick<Host, 'isInSegment'>): boolean {
  if (step.type !== 'parallel') return host.isInSegment(step);
  return isQuickFan(step, (inner) => host.isInSegment(inner));
}

/**
 * How often the step's branches were left open by segments that had more to do; null where no segment goes on with them.
 * One that came to where it may do nothing leaves them to the run.
 */
export function timesLeft({ host }: Pick<Walk, 'host'>, step: Step, { step: open }: BlockFrame): number | null {
  if (step.type !== 'parallel' || open?.type !== 'parallel' || open.left?.moved !== true) return null;
  // A branch that is about to fail is not to wait for steps of those that it cancels.
  if (step.failFast === true) return null;
  const isWalked = isQuickWithin(step, (inner) => host.isInSegment(inner));
  return isWalked && branchesStand(open) ? open.left.times : null;
}

type OpenBranches = Extract<OpenFrame, { type: 'parallel' }>;

/** Whether no open branch waits for what a segment cannot wait for. */
const branchesStand = ({ branches }: OpenBranches): boolean =>
  branches.every(({ status, block }) => status !== 'open' || stands(block));

function stands(frame: BlockFrame): boolean {
  const { step } = frame;
  switch (step?.type) {
    case undefined:
      return true;
    case 'condition':
      return stands(step.cleanUp?.block ?? step.block);
    case 'loop':
      return stands(step.loop.block);
    case 'parallel':
      return branchesStand(step);
    case 'asked':
    case 'awaiting-event':
    case 'sleeping':
    case 'joining':
    case 'resting':
    case 'failed':
    case 'model':
    case 'acting':
      return false;
    default:
      return step satisfies never;
  }
}
