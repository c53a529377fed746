/** From what Temporal throws to what the interpreter reads. Anything else is a bug and goes on up. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { FailureInfo } from '../../language/failure.ts';
import type { JsonObject } from '../../language/json.ts';
import type { Reply, Usage } from '../../interpreter/effect.ts';
import type { AgentReport } from '../../interpreter/host.ts';
import type { ModelFrame } from '../../interpreter/position.ts';
import type { RunResult } from '../../interpreter/outcome.ts';
import { unsealedFinding } from '../messages/unsealed.ts';
import { refuseUnsealed } from '../seal/refuse-unsealed.ts';

export function replyOf(key: string, pending: Promise<unknown>): Promise<Reply> {
  return pending.then(
    (value) => {
      refuseUnsealed(`the result of ${key}`, value);
      return { ok: true, value: value as JsonObject };
    },
    (error: unknown) => {
      if (isCancellation(error)) return { ok: false, cancelled: true };
      if (error instanceof ActivityFailure) return { ok: false, failure: failureOf(key, error.cause) };
      throw error;
    },
  );
}

/** An agent segment tells itself how it ended; one that did not leaves the step as it began. */
export async function agentReportOf(
  key: string,
  open: ModelFrame,
  pending: Promise<AgentReport>,
): Promise<AgentReport> {
  try {
    const report = await pending;
    refuseUnsealed(`the result of ${key}`, report);
    return report;
  } catch (error) {
    if (isCancellation(error)) return { open, halt: { flow: { kind: 'cancelled' } }, steps: 0 };
    if (!(error instanceof ActivityFailure)) throw error;
    return { open, halt: { ending: { failure: failureOf(key, error.cause) } }, steps: 0 };
  }
}

function failureOf(key: string, cause: unknown): FailureInfo {
  if (cause instanceof ApplicationFailure) {
    const details = cause.details?.[0] as JsonObject | undefined;
    return {
      code: cause.type ?? 'BUG',
      message: `${key}: ${cause.message}`,
      retryable: false,
      ...(details === undefined || details === null ? {} : { details }),
    };
  }
  if (cause instanceof TimeoutFailure) {
    return { code: 'STEP_TIMEOUT', message: `${key}: no worker finished the step in time`, retryable: false };
  }
  const finding = cause instanceof Error ? cause.message : String(cause);
  return { code: 'ACTIVITY_FAILED', message: `${key}: ${finding}`, retryable: false };
}

/** What a cancelled run had used by then, where its end tells. */
function usageIn(error: unknown): { usage?: Usage } {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
  const result = cause instanceof CancelledFailure ? (cause.details?.[0] as RunResult | undefined) : undefined;
  return result?.spent === undefined ? {} : { usage: result.spent };
}

/** How an awaited nested run ended: its result, which a failed one carries in its failure. */
export async function nestedResult(key: string, pending: Promise<RunResult>): Promise<RunResult | Reply> {
  try {
    const result = await pending;
    refuseUnsealed(`the result of ${key}`, result);
    return result;
  } catch (error) {
    // A nested run that somebody cancelled by itself is its parent's failed step, not its end.
    if (isCancellation(error) && CancellationScope.current().consideredCancelled)
      return { ok: false, cancelled: true, ...usageIn(error) };
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    const carried: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
    if (carried && unsealedFinding(carried) === null) return carried as RunResult;
    const message = `${key}: the nested run ended without a result: ${cause?.message ?? error.message}`;
    return { ok: false, failure: { code: 'CHILD_FAILED', message, retryable: false } };
  }
}
