/** How many events, at least, history has of a workflow task: of what it was asked to keep, and of what had happened. */
import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';

export type Job = NonNullable<ActivateInput['activation']['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

/** `TIMEOUT_TYPE_SCHEDULE_TO_START` and `TIMEOUT_TYPE_SCHEDULE_TO_CLOSE`: the activity may never have begun. */
const timeoutsOfWaiting: ReadonlySet<unknown> = new Set([2, 3]);

/** Commands that history keeps once their task ends, by a name of each: what is begun and given up in one task is in no history. */
export function keep(commands: readonly Command[], kept: Set<string>): void {
  for (const command of commands) {
    const { startTimer, scheduleActivity, startChildWorkflowExecution, signalExternalWorkflowExecution } = command;
    const { cancelTimer, requestCancelActivity, cancelChildWorkflowExecution, cancelSignalWorkflow } = command;
    if (startTimer) kept.add(`timer ${startTimer.seq}`);
    if (cancelTimer) kept.delete(`timer ${cancelTimer.seq}`);
    if (scheduleActivity) kept.add(`activity ${scheduleActivity.seq}`);
    if (requestCancelActivity) kept.delete(`activity ${requestCancelActivity.seq}`);
    if (startChildWorkflowExecution) kept.add(`child ${startChildWorkflowExecution.seq}`);
    if (cancelChildWorkflowExecution) kept.delete(`child ${cancelChildWorkflowExecution.childWorkflowSeq}`);
    if (signalExternalWorkflowExecution) kept.add(`signal ${signalExternalWorkflowExecution.seq}`);
    if (cancelSignalWorkflow) kept.delete(`signal ${cancelSignalWorkflow.seq}`);
    if (command.upsertWorkflowSearchAttributes) kept.add(`attributes ${kept.size}`);
    if (command.modifyWorkflowProperties) kept.add(`properties ${kept.size}`);
  }
}

export function eventsOf(jobs: readonly Job[]): number {
  return jobs.reduce((sum, job) => sum + eventsOfJob(job), 0);
}

/** What was cancelled may be told without an event, and so are local activities. */
function eventsOfJob(job: Job): number {
  const {
    resolveActivity,
    resolveChildWorkflowExecutionStart,
    resolveChildWorkflowExecution,
    fireTimer,
    signalWorkflow,
    cancelWorkflow,
  } = job;
  if (resolveActivity) return resolveActivity.isLocal === true ? 0 : eventsOfActivity(resolveActivity.result);
  if (resolveChildWorkflowExecutionStart) return resolveChildWorkflowExecutionStart.cancelled ? 0 : 1;
  if (resolveChildWorkflowExecution) return resolveChildWorkflowExecution.result?.cancelled ? 0 : 1;
  return (fireTimer ?? signalWorkflow ?? cancelWorkflow) ? 1 : 0;
}

/** Its beginning is written with its end. */
function eventsOfActivity(result: NonNullable<Job['resolveActivity']>['result']): number {
  if (result?.completed) return 2;
  const failure = result?.failed?.failure;
  if (!failure) return 0;
  return timeoutsOfWaiting.has(failure.cause?.timeoutFailureInfo?.timeoutType) ? 1 : 2;
}
