/** By how much history grows from one workflow task to the next, at least (workflows/replay-order/task-events.ts). */
import { temporal } from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { eventsOf, keep } from '../../../workflows/replay-order/task-events.ts';

const { TimeoutType } = temporal.api.enums.v1;

type Commands = Parameters<typeof keep>[0];
type Jobs = Parameters<typeof eventsOf>[0];

const failed = (cause: temporal.api.failure.v1.IFailure): Jobs[number] => ({
  resolveActivity: { seq: 1, result: { failed: { failure: { cause } } } },
});
const timedOut = (timeoutType: temporal.api.enums.v1.TimeoutType): Jobs[number] =>
  failed({ timeoutFailureInfo: { timeoutType } });

function keptOf(...tasks: Commands[]): number {
  const kept = new Set<string>();
  for (const commands of tasks) keep(commands, kept);
  return kept.size;
}

describe('what history keeps of a task', () => {
  test('is what it began, whatever the activation', () => {
    const upsert = { upsertWorkflowSearchAttributes: {} };
    const begun: Commands = [
      { startTimer: { seq: 1 } },
      { scheduleActivity: { seq: 1 } },
      { startChildWorkflowExecution: { seq: 1 } },
      upsert,
    ];
    expect(
      keptOf(begun, [{ signalExternalWorkflowExecution: { seq: 1 } }, upsert, { modifyWorkflowProperties: {} }]),
    ).toBe(7);
  });

  test('is nothing of what it began and gave up', () => {
    const begun: Commands = [
      { startTimer: { seq: 4 } },
      { scheduleActivity: { seq: 2 } },
      { startChildWorkflowExecution: { seq: 3 } },
    ];
    const givenUp: Commands = [
      { cancelTimer: { seq: 4 } },
      { requestCancelActivity: { seq: 2 } },
      { cancelChildWorkflowExecution: { childWorkflowSeq: 3 } },
    ];
    expect(keptOf(begun, givenUp)).toBe(0);
    expect(keptOf([{ signalExternalWorkflowExecution: { seq: 5 } }, { cancelSignalWorkflow: { seq: 5 } }])).toBe(0);
  });

  test('is nothing of a local activity, an answer or an end', () => {
    expect(
      keptOf([{ scheduleLocalActivity: { seq: 1 } }, { respondToQuery: {} }, { completeWorkflowExecution: {} }]),
    ).toBe(0);
  });
});

describe('events of what had happened', () => {
  test.each<[string, Jobs[number], number]>([
    ['an activity that ended', { resolveActivity: { seq: 1, result: { completed: {} } } }, 2],
    ['an activity that failed', failed({}), 2],
    ['an activity that was under way too long', timedOut(TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE), 2],
    ['an activity that no worker began in time', timedOut(TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START), 1],
    ['an activity that may never have begun', timedOut(TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE), 1],
    ['a cancelled activity', { resolveActivity: { seq: 1, result: { cancelled: {} } } }, 0],
    ['a local activity', { resolveActivity: { seq: 1, isLocal: true, result: { completed: {} } } }, 0],
    ['a timer', { fireTimer: { seq: 1 } }, 1],
    ['a signal', { signalWorkflow: {} }, 1],
    ['a cancellation', { cancelWorkflow: {} }, 1],
    ['the start of a nested run', { resolveChildWorkflowExecutionStart: { seq: 1, succeeded: {} } }, 1],
    ['the end of a nested run', { resolveChildWorkflowExecution: { seq: 1, result: { completed: {} } } }, 1],
    ['a cancelled nested run', { resolveChildWorkflowExecution: { seq: 1, result: { cancelled: {} } } }, 0],
    ['an update', { doUpdate: {} }, 0],
  ])('of %s', (_, job, events) => {
    expect(eventsOf([job])).toBe(events);
  });

  test('are counted together', () => {
    expect(
      eventsOf([
        { resolveActivity: { seq: 1, result: { completed: {} } } },
        { fireTimer: { seq: 1 } },
        { doUpdate: {} },
      ]),
    ).toBe(3);
  });
});
