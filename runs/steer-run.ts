/** What is said to a run through Temporal, and what its refusals mean. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { VALUE_FAULT } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import type { AnswerReply, AnswerRequest } from '../interpreter/questions.ts';
import type { Position } from '../interpreter/position.ts';
import type { EditRefusal, EditReply, EditRequest, StepList } from '../interpreter/edits.ts';
import type { TellRefusal, TellReply, TellRequest } from '../interpreter/models/telling.ts';
import {
  ANSWER,
  EDIT,
  NOT_YET,
  QUERIES,
  TELL,
  UPDATES,
  workflowIdOf,
  type ControlVerb,
  type RunState,
} from '../workflows/messages/messages.ts';
import { NOT_SEALED, unsealedFinding } from '../workflows/messages/unsealed.ts';
import { ClientError } from './client-error.ts';
import { crashPoint } from '../world/crash-points/crash-point.ts';

const ANSWER_MAX_MS = 30_000;
const AGAIN_MS = 500;

/**
 * The run's state after the update; a worker must be there to give it. `said`: why it is paused; whether a person extends
 * its limits. `by`: who says it, where it is no person and no step of a definition.
 */
export async function updateRun(
  client: Client,
  handle: string,
  verb: ControlVerb,
  said?: string | boolean,
  updateId?: string,
  by?: string,
): Promise<RunState> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  const once = updateId === undefined ? {} : { updateId };
  return asking(client, handle, verb, () =>
    said === undefined
      ? run.executeUpdate<RunState, []>(UPDATES[verb], once)
      : by === undefined
        ? run.executeUpdate<RunState, [string | boolean]>(UPDATES[verb], { args: [said], ...once })
        : run.executeUpdate<RunState, [string | boolean, string]>(UPDATES[verb], { args: [said, by], ...once }),
  );
}

/** Answers a question of the run; answered before, it is told the first answer. */
export async function answerRun(client: Client, handle: string, request: AnswerRequest): Promise<AnswerReply> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  return asking(client, handle, 'answer', () =>
    run.executeUpdate<AnswerReply, [AnswerRequest]>(ANSWER, { args: [request] }),
  );
}

/** Changes steps of the run that are still ahead; asked again under the same id, it is told the same. */
export async function editRun(
  client: Client,
  handle: string,
  request: EditRequest,
  updateId?: string,
): Promise<EditReply> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  return asking(client, handle, 'edit', () =>
    run.executeUpdate<EditReply, [EditRequest]>(EDIT, {
      args: [request],
      ...defined({ updateId }),
    }),
  );
}

/** Tells the model of a step that is under way something; told again under the same id, it is told once. */
export async function tellRun(client: Client, handle: string, request: TellRequest): Promise<TellReply> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  return asking(client, handle, 'tell', () => run.executeUpdate<TellReply, [TellRequest]>(TELL, { args: [request] }));
}

/** What the run is doing; a worker must be there to say it. */
export async function stateOfRun(client: Client, handle: string): Promise<RunState> {
  return asking(client, handle, 'ask', () =>
    client.workflow.getHandle(workflowIdOf(handle)).query<RunState>(QUERIES.status),
  );
}

/** What the run asks, and what it was answered; of a run that has ended too, while its history is kept. */
export async function asksOfRun(client: Client, handle: string): Promise<Pick<Position, 'questions' | 'answered'>> {
  const { questions, answered } = await asking(client, handle, 'ask', () =>
    client.workflow.getHandle(workflowIdOf(handle)).query<Position>(QUERIES.position),
  );
  return { questions, answered };
}

/** The latest event of a run that has not ended, and the length of its history before it was asked. */
export async function standingOfRun(client: Client, handle: string): Promise<{ seq: number; history: number } | null> {
  const run = client.workflow.getHandle(workflowIdOf(handle));
  const { status, historyLength } = await run.describe();
  if (status.name !== 'RUNNING') return null;
  const { seq } = await asking(client, handle, 'ask', () => run.query<Position>(QUERIES.position));
  return { seq, history: historyLength };
}

/** The run's steps as they stand; of a run that has ended too, while its history is kept. */
export async function stepsOfRun(client: Client, handle: string): Promise<StepList> {
  return asking(client, handle, 'list', () =>
    client.workflow.getHandle(workflowIdOf(handle)).query<StepList>(QUERIES.steps),
  );
}

export async function cancelRun(client: Client, handle: string): Promise<void> {
  await asking(client, handle, 'cancel', () => client.workflow.getHandle(workflowIdOf(handle)).cancel());
}

async function asking<Answer>(
  client: Client,
  handle: string,
  verb: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const deadline = Date.now() + ANSWER_MAX_MS;
  for (;;) {
    try {
      crashPoint('steer.saying', { handle });
      const answer = await client.withDeadline(deadline, ask);
      crashPoint('steer.said', { handle });
      refuseUnsealed(handle, verb, answer);
      return answer;
    } catch (error) {
      if (!(wasDropped(error) || wasTooEarly(error)) || Date.now() + AGAIN_MS > deadline)
        throw refusalOf(error, handle, verb);
      await sleep(AGAIN_MS);
    }
  }
}

/** Whoever takes the tasks of a run without its key answers in its place. */
function refuseUnsealed(handle: string, verb: string, answer: unknown): void {
  if (unsealedFinding(answer) === null) return;
  const message = `What answered the ${verb} of ${handle} does not have the key of this installation: give all workers and clients the same SENTINEL_KEY, and see who else reaches this Temporal server.`;
  throw new ClientError('NOT_SEALED', message);
}

/**
 * Temporal drops an update whose workflow task fails or times out again and again, as it does when
 * workers are lost. Whatever is said to a run may be said twice, and the store may have heard it already.
 */
function wasDropped(error: unknown): boolean {
  if (!(error instanceof ServiceError) || !isGrpcServiceError(error.cause)) return false;
  return error.cause.details.startsWith('Unable to perform workflow execution update');
}

/** A query that comes before the run's next task is done. */
const wasTooEarly = (error: unknown): boolean =>
  error instanceof QueryNotRegisteredError && error.message.includes(NOT_YET);

function refusalOf(error: unknown, handle: string, verb: string): unknown {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const code = (['RUN_ENDED', 'HELD_AT_LIMIT', 'RIGHTS_EXCEEDED'] as const).find(
      (one) => one === (error.cause as ApplicationFailure).type,
    );
    if (code !== undefined) return new ClientError(code, `${error.cause.message}.`, { cause: error });
  }
  const isNotTaken =
    (error instanceof WorkflowUpdateFailedError &&
      error.cause instanceof ApplicationFailure &&
      error.cause.type === NOT_SEALED) ||
    (error instanceof QueryNotRegisteredError && error.message.includes('is not taken: '));
  if (isNotTaken) {
    const said = error instanceof WorkflowUpdateFailedError ? (error.cause?.message ?? '') : error.message;
    return new ClientError('NOT_SEALED', `${said}.`, { cause: error });
  }
  const refusal = answerRefusal(error) ?? editRefusal(error) ?? tellRefusal(error);
  if (refusal !== null) return refusal;
  if (error instanceof WorkflowNotFoundError) {
    return new ClientError('RUN_ENDED', `${handle} has ended; there is nothing to ${verb}.`, { cause: error });
  }
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) {
    const message = `Nothing answered the ${verb} within ${ANSWER_MAX_MS / 1000} s: see "sentinel doctor", whether a worker serves the run's task queue.`;
    return new ClientError('NO_ANSWER', message, { cause: error });
  }
  return error;
}

export const editRefusals: readonly EditRefusal['code'][] = [
  'EDIT_STALE',
  'EDIT_INVALID',
  'STEP_NOT_FOUND',
  'STEP_PAST',
  'STEP_UNDER_WAY',
  VALUE_FAULT,
];

/** What a run says of an edit that it does not make. */
function editRefusal(error: unknown): ClientError | null {
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) return null;
  const { type, message } = error.cause;
  const code = editRefusals.find((refusal) => refusal === type);
  return code === undefined ? null : new ClientError(code, `${message}.`, { cause: error });
}

const tellRefusals: readonly TellRefusal['code'][] = ['NO_MODEL_STEP', 'TELL_INVALID'];

/** What a run says of what no model of it can be told. */
function tellRefusal(error: unknown): ClientError | null {
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) return null;
  const { type, message } = error.cause;
  const code = tellRefusals.find((refusal) => refusal === type);
  return code === undefined ? null : new ClientError(code, `${message}.`, { cause: error });
}

/** What a run says of an answer that it does not take. */
function answerRefusal(error: unknown): ClientError | null {
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) return null;
  const { type, message } = error.cause;
  if (type === 'QUESTION_UNKNOWN' || type === VALUE_FAULT)
    return new ClientError(type, `${message}.`, { cause: error });
  const refused = ['QUESTION_CHANGED', 'QUESTION_EXPIRED', 'ANSWER_INVALID'];
  return type !== undefined && type !== null && refused.includes(type)
    ? new ClientError('ANSWER_REFUSED', `${message}.`, { cause: error })
    : null;
}
