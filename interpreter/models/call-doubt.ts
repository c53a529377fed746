/** A call whose worker was lost before anybody knew what came of it: what only reads is read again. */
import type { FailureInfo } from '../../language/failure.ts';
import type { CommandStep } from '../../language/model.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { resolveDoubt, triesMax, type Decider } from '../doubt.ts';
import type { Walking } from '../drive.ts';
import type { Halt, Place } from '../effect.ts';
import type { CallFrame, Doubt } from '../position.ts';
import type { AtModel } from './model-gate.ts';

export const isDoubt = ({ code }: FailureInfo): boolean => code === 'CALL_OUTCOME_UNKNOWN';

/** `again`: why it is called once more. `answer`: what the model is told. */
export type ResolvedCall = { again: string } | { answer: string; ok: boolean } | Halt;

export interface DoubtedCall {
  call: CallFrame;
  doubt: Doubt;
  called: CommandStep;
  place: Place;
}

export function* resolveCall({ walk, strand, step }: AtModel, doubted: DoubtedCall): Walking<ResolvedCall> {
  const { call, doubt, called, place } = doubted;
  const { tries = 1 } = call;
  if (permissionOfCommand(walk.input.catalogue, call.name, call.input) === 'read')
    return tries < triesMax ? { again: 'it only reads' } : skipped(`Its worker was lost ${triesMax} times`);
  const { command: name = call.name, params: input = call.input } = doubt.action;
  const resolved = yield* resolveDoubt(walk, strand, {
    doubt,
    tries,
    onUnknown: step.onUnknown ?? 'ask',
    place,
    label: called.command,
    call: { name, input },
  });
  if ('left' in resolved) return skipped(whyLeft(resolved.left));
  if (!('done' in resolved)) return resolved;
  return {
    answer: `This call was done, and its result is lost with the worker that ran it. ${resolved.done}`,
    ok: true,
  };
}

const whyLeft = (decider: Decider): string | undefined =>
  decider === 'policy' || decider.note === null ? undefined : `${decider.by} says: ${decider.note}`;

function skipped(why?: string): ResolvedCall {
  const more = why === undefined ? '' : ` ${why}.`;
  return {
    answer: `It is not known whether this call was done: the worker that ran it was lost. It was not made again.${more}`,
    ok: false,
  };
}
