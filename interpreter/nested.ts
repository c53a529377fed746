/** A nested run seen from its parent: what it starts with, and what its end means to the step. */
import { entriesFor } from '../language/catalogue.ts';
import type { SentinelStep, Step } from '../language/model.ts';
import {
  isCancelled,
  type Effect,
  type Flow,
  type NestedEffect,
  type Reply,
  type RunInput,
  type Strand,
} from './host.ts';
import type { Walk } from './walk-state.ts';
import { limitsOf, runningMs } from './limits.ts';
import { valueOfNestedRun, type RunResult } from './outcome.ts';

export function nestedInput(walk: Walk, effect: NestedEffect): RunInput {
  const { input } = walk;
  const library = { ...effect.library, ...input.library };
  return {
    ...input,
    handle: `${input.handle}/${effect.key}`,
    definition: effect.definition,
    definitionHash: '',
    library,
    // What this run knows a command as, it is to the runs in it.
    catalogue: entriesFor({ ...effect.catalogue, ...input.catalogue }, [effect.definition, ...Object.values(library)]),
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
  if (result.outcome === 'completed') return { ok: true, value: valueOfNestedRun(result) };
  if (result.outcome === 'stopped')
    return { ok: true, value: valueOfNestedRun(result), stoppedBy: result.limit ?? 'stop' };
  if (result.outcome === 'cancelled') {
    return {
      ok: false,
      failure: { code: 'CHILD_FAILED', message: `${key}: the nested run was cancelled`, retryable: false },
    };
  }
  const finding = result.failure?.message ?? 'it failed';
  const details = { code: result.failure?.code ?? 'CHILD_FAILED' };
  return {
    ok: false,
    failure: { code: 'CHILD_FAILED', message: `${key}: the nested run failed: ${finding}`, retryable: true, details },
  };
}

/** Whether the step's own time ends it. A nested run that nobody waits for has that time as a limit. */
export function isTimed(step: SentinelStep): boolean {
  return step.timeoutMs !== undefined && step.await !== false;
}

/**
 * Performs an effect, a nested run within the `timeoutMs` of its step: when that has passed, the run
 * is cancelled and cleans up, and then the step has failed. Limits of the nested run itself end it as
 * they do any run. Time that the run around it is held does not count.
 */
export function performInTime(walk: Walk, strand: Strand, step: Step, effect: Effect): Promise<Reply> {
  const { timeoutMs } = step;
  if (effect.type !== 'sentinel' || step.type !== 'sentinel' || timeoutMs === undefined || !isTimed(step))
    return walk.host.perform(strand, effect);
  const since = runningMs(walk);
  // Not a clean-up of its own, which only its own time would end: one around it holds for it, too.
  const { shield: _shield, ...plain } = strand;
  const inner: Strand = { ...plain, cancelled: false, within: strand };
  let reply: Reply = { ok: false, cancelled: true };
  const perform = async (): Promise<Flow> => {
    reply = await walk.host.perform(inner, effect);
    return { kind: 'done' };
  };
  return walk.host
    .bound(inner, () => timeoutMs - (runningMs(walk) - since), perform)
    .then(() => {
      const isLate = !reply.ok && 'cancelled' in reply && inner.cancelled && !isCancelled(strand);
      return isLate ? tooLate(effect.key, timeoutMs, reply) : reply;
    });
}

function tooLate(key: string, timeoutMs: number, { usage }: Reply): Reply {
  const message = `${key}: the nested run did not end within the step's timeoutMs ${timeoutMs} and was cancelled; raise timeoutMs, or do less in it`;
  return {
    ok: false,
    failure: { code: 'STEP_TIMEOUT', message, retryable: true },
    ...(usage === undefined ? {} : { usage }),
  };
}
