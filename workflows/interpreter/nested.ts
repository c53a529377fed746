/** A nested run seen from its parent: what it starts with, and what its end means to the step. */
import type { NestedEffect, Reply, RunInput } from './host.ts';
import type { Walk } from './ledger.ts';
import { limitsOf, turnsGranted } from './limits.ts';
import { valueOfNestedRun, type RunResult } from './outcome.ts';

/**
 * `attempt` counts from 1; each attempt of a step with retries is a run of its own, and so is each
 * time the step is repeated because a limit was extended.
 */
export function nestedInput(walk: Walk, effect: NestedEffect, attempt = 1): RunInput {
  const { input } = walk;
  const granted = turnsGranted(walk.position);
  const mark = attempt + granted === 1 ? '' : `#${attempt}.${granted}`;
  return {
    ...input,
    handle: `${input.handle}/${effect.key}${mark}`,
    definition: effect.definition,
    definitionHash: '',
    ...(effect.library === undefined ? {} : { library: { ...effect.library, ...input.library } }),
    base: effect.base,
    limits: limitsOf(effect.definition, effect.limits),
    depth: effect.depth,
    parent: input.handle,
    startedAt: walk.host.now(),
  };
}

/** A nested run that failed fails the step; one that a limit or a stop ended has a result to look at. */
export function nestedReply(key: string, result: RunResult): Reply {
  const reply = endOf(key, result);
  return result.spent === undefined ? reply : { ...reply, usage: result.spent };
}

function endOf(key: string, result: RunResult): Reply {
  if (result.outcome === 'completed' || result.outcome === 'stopped') return { ok: true, value: valueOfNestedRun(result) };
  if (result.outcome === 'cancelled') {
    return { ok: false, failure: { code: 'CHILD_FAILED', message: `${key}: the nested run was cancelled`, retryable: false } };
  }
  const finding = result.failure?.message ?? 'it failed';
  const details = { code: result.failure?.code ?? 'CHILD_FAILED' };
  return { ok: false, failure: { code: 'CHILD_FAILED', message: `${key}: the nested run failed: ${finding}`, retryable: true, details } };
}
