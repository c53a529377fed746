/**
 * The workspace of a run: a nested run may begin with one of its own, and a run that has one leaves nothing in it that is
 * in no commit, however it ends.
 */
import { CancellationScope, scheduleActivity } from '@temporalio/workflow';
import { defined } from '../../language/defined.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { WORKSPACE_END, WORKSPACE_FORK, WORKSPACES_TAKEN, type StepOptions } from '../../interpreter/contract.ts';
import type { Flow, Variables } from '../../interpreter/effect.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { goTo, hasGone, type LeftWorkspaces, ownRoot, takeWorkspaces } from '../../interpreter/workspace.ts';
import { workspaceOptions } from './activity-options.ts';
import { replyOf } from './replies.ts';

/** What the run comes to, and what its result says of its workspace. */
export interface WorkspaceLeft {
  flow: Flow;
  outputs?: Variables;
}

export const beginsInWorkspace = (walk: Walk): boolean => walk.input.forks !== undefined && !hasGone(walk);

/** Null: it has one now. */
export async function beginInWorkspace({ input, position, host }: Walk): Promise<Flow | null> {
  const { forks = '', root } = input;
  const options = workspaceOptions(WORKSPACE_FORK, `workspace for ${forks}`);
  const pending = scheduleActivity<Json>(WORKSPACE_FORK, [{ name: forks }, optionsIn(input, root)], options);
  host.suspended();
  const reply = await replyOf(WORKSPACE_FORK, pending);
  if (reply.ok) {
    goTo({ own: position.own }, reply.value as string);
    return null;
  }
  return 'cancelled' in reply ? { kind: 'cancelled' } : { kind: 'failed', failure: reply.failure };
}

/** A fork goes on in the workspaces that the other run has left, or in forks of them. Null: it has them now. */
export async function takeOverWorkspaces(walk: Walk, left: LeftWorkspaces): Promise<Flow | null> {
  const options = workspaceOptions(WORKSPACES_TAKEN, `workspaces of ${left.of}`);
  const pending = scheduleActivity<Json>(WORKSPACES_TAKEN, [{ ...left }, optionsIn(walk.input, undefined)], options);
  walk.host.suspended();
  const reply = await replyOf(WORKSPACES_TAKEN, pending);
  if (reply.ok) {
    takeWorkspaces(walk, reply.value as JsonObject);
    return null;
  }
  return 'cancelled' in reply ? { kind: 'cancelled' } : { kind: 'failed', failure: reply.failure };
}

/** A run that has done its work and cannot keep it has failed. */
export async function leaveWorkspace(walk: Walk, flow: Flow): Promise<WorkspaceLeft> {
  const { input } = walk;
  const request = { title: input.definition.name };
  const options = workspaceOptions(WORKSPACE_END, `workspace of ${input.definition.name}`);
  const pending = CancellationScope.nonCancellable(() =>
    replyOf(WORKSPACE_END, scheduleActivity<Json>(WORKSPACE_END, [request, optionsIn(input, ownRoot(walk))], options)),
  );
  walk.host.suspended();
  const reply = await pending;
  if (reply.ok) return reply.value === null ? { flow } : { flow, outputs: reply.value as Variables };
  if (flow.kind !== 'done' || 'cancelled' in reply) return { flow };
  return { flow: { kind: 'failed', failure: reply.failure } };
}

function optionsIn({ limits: { mode } }: Walk['input'], root: string | undefined): StepOptions {
  return { confinement: defined({ mode, root }) };
}
