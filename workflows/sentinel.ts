/**
 * The workflow that is a run. It walks the definition it was started with (I5), continues as new when
 * history grows long (I8), and ends in Temporal the way the run ended: completed, failed with the
 * failure's code as its type, or cancelled.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { depthFault } from '../language/json.ts';
import type { RunOrigin } from '../language/events/run-event.ts';
import { defined } from '../language/defined.ts';
import type { RetraceTarget } from './history/retrace.ts';
import { RetraceHost } from './history/retrace-host.ts';
import { drive } from '../interpreter/drive.ts';
import { reportOf } from '../interpreter/escalation.ts';
import type { Flow } from '../interpreter/effect.ts';
import { record, type Walk } from '../interpreter/walk-state.ts';
import { resultOf, type RunResult } from '../interpreter/outcome.ts';
import { firstPosition, readPosition, type Position } from '../interpreter/position.ts';
import { walkRun } from '../interpreter/walk/walk.ts';
import { leftWorkspaces, ownRoot } from '../interpreter/workspace.ts';
import { keepWhatWasHeard, wasHeardNow } from './replay-order/last-in-turn.ts';
import { cancelDetached } from './host/nested-run.ts';
import { handleOf } from './messages/messages.ts';
import { SEARCH_ATTRIBUTES } from './messages/search-attributes.ts';
import { runInputOf, startInputOf, type StartInput } from './messages/start-input.ts';
import { standInFor, unreadFault } from './messages/unread-start.ts';
import { refuseUnsealed } from './seal/refuse-unsealed.ts';
import { TemporalHost } from './host/temporal-host.ts';
import {
  beginInWorkspace,
  beginsInWorkspace,
  leaveWorkspace,
  takeOverWorkspaces,
  type WorkspaceLeft,
} from './host/workspace.ts';
import { goOnInTasksOnly } from './replay-order/task-boundaries.ts';

/**
 * `carried`: from where the run goes on, itself continued as new or a fork of another. `target`: only
 * when its history is walked again to look something up.
 */
export async function sentinel(start: StartInput, carried?: Position, target?: RetraceTarget): Promise<RunResult> {
  for (const given of [start, carried ?? null, target ?? null]) refuseUnsealed('what the run starts with', given);
  goOnInTasksOnly();
  const unread = isContinued() ? null : unreadFault(start);
  const isFirst = carried === undefined || unread !== null;
  const position = isFirst ? firstPosition(Date.now()) : readPosition(carried);
  const refused = unread === null ? refusalOf(start) : unreadRefusal(unread);
  const known = unread === null ? start : standInFor(start);
  const given = refused === null ? start : { ...known, inputs: {} };
  const input = runInputOf(given, handleOf(workflowInfo().workflowId), position.loop.startedAt);
  const host = target === undefined ? new TemporalHost(input, position) : new RetraceHost(input, position, target);
  const { walk, control } = host;
  if (position.seq === 0) recordStart(walk, given.origin);
  control.listen();
  const held = refused ?? (await goToWorkspaces(walk));
  const walkOn = (): Promise<Flow> =>
    held === null ? drive(walkRun(walk), () => host.suspended()) : Promise.resolve(held);
  let flow = await walkOn();
  // A cancelled workflow cannot continue as new: where branches had begun to yield, it walks to its end here.
  if (flow.kind === 'yield' && control.cancelled) flow = await walkOn();
  if (flow.kind === 'yield') {
    await condition(allHandlersFinished);
    if (wasHeardNow(walk)) await keepWhatWasHeard(walk);
    // Whoever came during that rest is heard, too.
    if (!allHandlersFinished()) await condition(allHandlersFinished);
    host.settle();
    return continueAsNew<typeof sentinel>(startInputOf(walk.input, walk.input.limits), walk.position);
  }
  const left = ownRoot(walk) === undefined ? { flow } : await leaveWorkspace(walk, flow);
  if (wasHeardNow(walk)) await keepWhatWasHeard(walk);
  // Its last step may have ended before the cancellation reached it: whoever cancelled was told that the run is.
  return end(host, left.flow.kind === 'done' && control.cancelled ? { ...left, flow: { kind: 'cancelled' } } : left);
}

/** Null: the run is where its steps work. */
function goToWorkspaces(walk: Walk): Promise<Flow | null> | null {
  if (beginsInWorkspace(walk)) return beginInWorkspace(walk);
  const left = leftWorkspaces(walk);
  return left === null ? null : takeOverWorkspaces(walk, left);
}

/** What it goes on with was looked at when it began. */
const isContinued = (): boolean => workflowInfo().continuedFromExecutionRunId !== undefined;

/** Whoever starts a run at Temporal itself passes by the doors that read its definition. */
function unreadRefusal(finding: string): Flow {
  const message = `the run was started with what no reader of Sentinel has read (${finding}), so nothing of it was done; start it with "sentinel run", or with the client of this version`;
  return { kind: 'failed', failure: { code: 'DEFINITION_INVALID', message, retryable: false } };
}

/** Whoever starts a run at Temporal itself passes by the doors that look at its inputs. */
function refusalOf({ inputs = {} }: StartInput): Flow | null {
  for (const [name, value] of Object.entries(inputs)) {
    const fault = depthFault(value, `the input "${name}"`);
    if (fault !== null) return { kind: 'failed', failure: { ...fault, retryable: false } };
  }
  return null;
}

function recordStart(walk: Walk, origin: RunOrigin | undefined): void {
  const { definition, definitionHash, project, persona, parent, base, limits } = walk.input;
  record(walk, {
    type: 'run-started',
    key: '',
    name: definition.name,
    definitionHash,
    project,
    persona,
    parent,
    inputs: base,
    ...defined({ origin }),
    ...(limits.brought?.tools === undefined ? {} : { isBrought: true }),
  });
}

async function end(host: TemporalHost, { flow, outputs: left }: WorkspaceLeft): Promise<RunResult> {
  const { walk, control } = host;
  const { position, input } = walk;
  // Who waits for it is told before the end of the run is.
  if (position.place !== undefined) await host.leavePlace();
  delete position.place;
  const own = resultOf(walk, flow, host.now());
  const result = left === undefined ? own : { ...own, outputs: { ...left, ...own.outputs } };
  const notify = reportOf(input, result);
  control.ended = result.status;
  const { status, outcome, limit, failure, iterations, durationMs, outputs } = result;
  record(walk, {
    type: 'run-finished',
    key: '',
    status,
    outcome,
    iterations,
    durationMs,
    outputs,
    ...defined({ limit, failure, notify, consumed: position.consumed }),
    ...(input.limits.brought?.tools === undefined ? {} : { isBrought: true }),
  });
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.status, value: status },
    { key: SEARCH_ATTRIBUTES.iteration, value: iterations },
  ]);
  host.suspended();
  // Callers that still wait for an answer are told how the run ended. Most runs have none, and a scope is expensive (docs/internal/decisions/0004).
  if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return closeWith(walk, result);
}

async function closeWith(walk: Walk, result: RunResult): Promise<RunResult> {
  if (result.outcome === 'cancelled') {
    await cancelDetached(walk);
    throw new CancelledFailure('the run was cancelled', [result]);
  }
  if (result.outcome === 'failed') {
    throw ApplicationFailure.create({
      message: result.failure?.message ?? 'the run failed',
      type: result.failure?.code ?? 'RUN_FAILED',
      nonRetryable: true,
      details: [result],
    });
  }
  if (result.outcome === 'stopped' && result.status === 'failed') {
    const message =
      result.failure?.message ?? `the run reached its limit ${result.limit ?? ''} after ${result.iterations} passes`;
    throw ApplicationFailure.create({ message, type: 'LIMIT_REACHED', nonRetryable: true, details: [result] });
  }
  return result;
}
