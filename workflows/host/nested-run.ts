/**
 * A nested sentinel is a child workflow: its own history, its own row in the Web UI. Awaited, it ends
 * with its parent. Not awaited, it goes on after its parent has ended by itself, but a stop and a
 * cancellation of the parent still reach it.
 */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import type { Control } from './control.ts';
import { shieldOf, type Strand } from '../../interpreter/host.ts';
import type { NestedEffect, Reply } from '../../interpreter/effect.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { nestedMs } from '../../interpreter/limits.ts';
import { nestedInput, nestedReply, type RunResult } from '../../interpreter/outcome.ts';
import { SIGNALS, workflowIdOf, WORKFLOW_TYPE } from '../messages/messages.ts';
import { controlMessage } from '../seal/control-message.ts';
import { nestedResult } from './replies.ts';
import { memoOf, searchAttributesOf } from '../messages/search-attributes.ts';
import { startInputOf, type StartInput } from '../messages/start-input.ts';

/** Telling more at once would pass Temporal's bound on signals under way. */
const detachedMax = 1000;

type Child = (start: StartInput) => Promise<RunResult>;

export async function runNested(walk: Walk, control: Control, strand: Strand, effect: NestedEffect): Promise<Reply> {
  try {
    return await performNested(walk, control, strand, effect);
  } catch (error) {
    if (isCancellation(error)) return { ok: false, cancelled: true };
    throw error;
  }
}

async function performNested(walk: Walk, control: Control, strand: Strand, effect: NestedEffect): Promise<Reply> {
  const limits = { ...effect.limits, timeoutMs: shorter(effect.limits.timeoutMs, nestedMs(walk, strand, effect.wait)) };
  // What is said to the run stops at a clean-up, and so at the runs that it starts.
  const isShielded = shieldOf(strand) !== null;
  const input = nestedInput(walk, strand, { ...effect, limits });
  const start = (): Promise<ChildWorkflowHandle<Child>> =>
    startChild<Child>(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(input.handle),
      args: [startInputOf(input, limits)],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      parentClosePolicy: effect.wait ? ParentClosePolicy.TERMINATE : ParentClosePolicy.ABANDON,
      typedSearchAttributes: searchAttributesOf(input),
      memo: memoOf(input.definition, input.project, walk.input.handle),
      staticSummary: `${input.definition.name} (${effect.key} of ${walk.input.handle})`.slice(0, 100),
    });
  // What is let go is cancelled with the run, not with a branch or the time of a step.
  const child = await (effect.wait ? start() : CancellationScope.nonCancellable(start));
  if (!effect.wait) {
    detach(walk, input.handle, child);
    if (!isShielded) await catchUp(walk, child);
    return { ok: true, value: { handle: input.handle } };
  }
  if (!isShielded) control.around.nested.add(input.handle);
  try {
    if (!isShielded) await catchUp(walk, child);
    const ended = await nestedResult(effect.key, child.result());
    return 'ok' in ended ? ended : nestedReply(effect.key, ended);
  } finally {
    control.around.ended(input.handle);
  }
}

function shorter(own: number | null, left: number | null): number | null {
  return own === null || left === null ? (own ?? left) : Math.min(own, left);
}

/** Remembered until it ends, so that a stop or a cancellation reaches it; the newest `detachedMax`. */
function detach(walk: Walk, handle: string, child: ChildWorkflowHandle<Child>): void {
  const { position } = walk;
  position.detached = [...position.detached, handle].slice(-detachedMax);
  const forget = (): void => {
    position.detached = position.detached.filter((other) => other !== handle);
  };
  child.result().then(forget, forget);
}

/** What was asked of this run while the child was being started has not reached it yet. */
async function catchUp(walk: Walk, child: ChildWorkflowHandle<Child>): Promise<void> {
  const { stopping, paused, saidToNested } = walk.position;
  if (!stopping && paused === null) return;
  try {
    await child.signal(SIGNALS.control, controlMessage(stopping ? 'stop' : 'pause', saidToNested));
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** Cancellation of a run that ends reaches the runs it started without waiting for them. */
export async function cancelDetached(walk: Walk): Promise<void> {
  await CancellationScope.nonCancellable(async () => {
    const cancels = walk.position.detached.map((handle) => getExternalWorkflowHandle(workflowIdOf(handle)).cancel());
    await Promise.allSettled(cancels);
  });
}
