/** A shell step whose process was started, and of which neither the process nor its outcome can be found. */
import { isJsonObject, type JsonObject } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import { isToldOfUnknown } from '../language/unknown-outcomes.ts';
import type { Effect, Reply } from './effect.ts';
import type { FailedFrame } from './position.ts';
import { shownAction } from './shown-action.ts';

/** Where nobody knows how the step's process ended: what is to be decided about it. */
export function doubtOf(step: Step, effect: Effect, reply: Reply, startedAt: number): FailedFrame | null {
  if (step.type !== 'shell' || reply.ok || 'cancelled' in reply) return null;
  const { failure } = reply;
  if (failure.code !== 'SHELL_OUTCOME_UNKNOWN') return null;
  return { type: 'failed', failure, doubt: { failure, action: shownAction(effect), block: { at: 0 }, startedAt } };
}

/** Each result of a step that is told of unknown outcomes says whether it is one. */
export function withKnown(step: Step, reply: Reply): Reply {
  if (step.type !== 'shell' || !isToldOfUnknown(step) || !reply.ok || !isJsonObject(reply.value)) return reply;
  return { ...reply, value: { ...reply.value, unknown: false } };
}

/** `isTaken`: it counts as done, and so as what ended well. */
export function unknownValue(isTaken: boolean): JsonObject {
  const exitCode = isTaken ? 0 : null;
  return {
    exitCode,
    exit_code: exitCode,
    stdout: '',
    stderr: '',
    output: '',
    durationMs: null,
    success: isTaken,
    unknown: true,
  };
}
