/** The model steps that are under way in a run: where its position has a model frame. */
import { turnKey } from './build-turn.ts';
import {
  openIn,
  type BlockFrame,
  type LoopFrame,
  type ModelFrame,
  type OpenFrame,
  type Position,
} from '../position.ts';

export function openModels({ cleanUp, loop }: Pick<Position, 'cleanUp' | 'loop'>): ModelFrame[] {
  return inBlock(cleanUp?.block ?? loop.block);
}

function inBlock(block: BlockFrame): ModelFrame[] {
  if (block.step?.type === 'model') return [block.step];
  const open = openIn(block);
  return open === undefined ? [] : inside(open);
}

const inLoop = ({ block }: LoopFrame): ModelFrame[] => inBlock(block);

function inside(open: OpenFrame): ModelFrame[] {
  switch (open.type) {
    case 'condition':
      return inBlock(open.cleanUp?.block ?? open.block);
    case 'loop':
      return inLoop(open.loop);
    case 'parallel':
      return open.branches.flatMap(({ status, block }) => (status === 'open' ? inBlock(block) : []));
    default:
      return open satisfies never;
  }
}

/** Key of the effect that the step asks for next: its turn, or the first call of the turn that has not ended. */
export function nextKeyOf(frame: ModelFrame): string {
  const { key, turn, calls } = frame;
  if (calls === undefined) return turnKey({ key }, frame);
  return `${key}/turn.${turn}/call.${calls.findIndex(({ block }) => block.at === 0)}`;
}
