/**
 * Steps that were waiting when the run continued as new. They have begun, so they are neither paid
 * for again nor left without an end when the run, or their branch, ends before they wait again.
 */
import type { Step } from '../language/model.ts';
import { readApproval, readEventPattern } from './effects.ts';
import type { Strand } from './host.ts';
import { finish, type Place, type Walk } from './walk-state.ts';
import type { BlockFrame } from './position.ts';
import { answerTo, withdrawOpen } from './questions.ts';

function isWaiting(step: Step, frame: BlockFrame): boolean {
  return (
    (step.type === 'approval' && frame.step?.type === 'asked') ||
    (step.type === 'watch' && frame.step?.type === 'awaiting-event')
  );
}

/** It was counted when it began. */
export function isPaidFor(walk: Walk, step: Step, frame: BlockFrame): boolean {
  return walk.input.limits.budget !== undefined && isWaiting(step, frame);
}

/** An answer that was given holds, whatever has been said to the run since. */
export function isAnswered(walk: Walk, step: Step, { key }: Place, frame: BlockFrame): boolean {
  return step.type === 'approval' && frame.step?.type === 'asked' && answerTo(walk, key) !== undefined;
}

/** The run, or the branch, ends where it would have gone on waiting. */
export function endWait(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): void {
  if (frame.step?.type !== 'asked' && frame.step?.type !== 'awaiting-event') return;
  withdrawOpen(walk, place.key);
  if (isWaiting(step, frame))
    finish(
      walk,
      strand,
      step,
      place,
      frame.step.since ?? walk.host.now(),
      { cancelled: true },
      labelNow(walk, strand, step, place),
    );
}

function labelNow(walk: Walk, strand: Strand, step: Step, place: Place): string {
  if (step.type === 'approval') return readApproval(walk, strand, step, place).label;
  const pattern =
    step.type === 'watch' && step.event !== undefined ? readEventPattern(walk, strand, step.event, place).pattern : '';
  return step.type === 'watch' ? (step.name ?? pattern) : '';
}
