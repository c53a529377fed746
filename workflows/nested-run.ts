/**
 * A nested sentinel is a child workflow: its own history, its own row in the Web UI. Awaited, it ends
 * with its parent. Not awaited, it goes on after its parent has ended by itself, but a stop and a
 * cancellation of the parent still reach it.
 */
import { CancellationScope, getExternalWorkflowHandle, isCancellation, ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import type { NestedEffect, Reply, RunInput } from './interpreter/host.ts';
import { limitsOf } from './interpreter/limits.ts';
import type { Walk } from './interpreter/ledger.ts';
import { valueOfNestedRun, type RunResult } from './interpreter/outcome.ts';
import type { Control } from './control.ts';
import { workflowIdOf, WORKFLOW_TYPE } from './messages.ts';
import { nestedResult } from './replies.ts';
import { searchAttributesOf } from './search-attributes.ts';

function inputOf(walk: Walk, effect: NestedEffect): RunInput {
  const { input } = walk;
  return {
    ...input,
    handle: `${input.handle}/${effect.key}`,
    definition: effect.definition,
    definitionHash: '',
    base: effect.base,
    limits: limitsOf(effect.definition, effect.limits),
    depth: effect.depth,
    parent: input.handle,
    startedAt: walk.host.now(),
  };
}

export async function runNested(walk: Walk, control: Control, effect: NestedEffect): Promise<Reply> {
  const input = inputOf(walk, effect);
  try {
    const child = await startChild<(input: RunInput) => Promise<RunResult>>(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(input.handle),
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      parentClosePolicy: effect.wait ? ParentClosePolicy.TERMINATE : ParentClosePolicy.ABANDON,
      typedSearchAttributes: searchAttributesOf(input),
      memo: { definition: input.definition.name, project: input.project, parent: walk.input.handle },
      staticSummary: `${input.definition.name} (${effect.key} of ${walk.input.handle})`.slice(0, 100),
    });
    if (!effect.wait) {
      walk.position.detached.push(input.handle);
      return { ok: true, value: { handle: input.handle } };
    }
    control.nested.add(input.handle);
    try {
      return replyTo(effect, await nestedResult(effect.key, child.result()));
    } finally {
      control.nested.delete(input.handle);
    }
  } catch (error) {
    if (isCancellation(error)) return { ok: false, cancelled: true };
    throw error;
  }
}

/** A nested run that failed fails the step; one that a limit or a stop ended has a result to look at. */
function replyTo(effect: NestedEffect, ended: RunResult | Reply): Reply {
  if ('ok' in ended) return ended;
  if (ended.outcome === 'cancelled') {
    return { ok: false, failure: { code: 'CHILD_FAILED', message: `${effect.key}: the nested run was cancelled`, retryable: false } };
  }
  if (ended.outcome === 'failed') {
    const finding = ended.failure?.message ?? 'it failed';
    const details = { code: ended.failure?.code ?? 'CHILD_FAILED' };
    return { ok: false, failure: { code: 'CHILD_FAILED', message: `${effect.key}: the nested run failed: ${finding}`, retryable: false, details } };
  }
  return { ok: true, value: valueOfNestedRun(ended) };
}

/** Cancellation of a run that ends reaches the runs it started without waiting for them. */
export async function cancelDetached(walk: Walk): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    const cancels = walk.position.detached.map((handle) => getExternalWorkflowHandle(workflowIdOf(handle)).cancel());
    await Promise.allSettled(cancels);
  });
}
