/**
 * What a run starts with, and what its steps are given, is sealed for its workflow id, which is free again when
 * the run has ended. A stranger who sends copies of it there performs nothing.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateRun } from '../../../../runs/steer-run.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../../../../workflows/messages/messages.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, sharedAddresses, until } from '../../harness/harness.ts';

let harness: Harness;
let connection: Connection;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  connection = await Connection.connect({ address: sharedAddresses().temporalAddress });
});
afterAll(async () => {
  await connection.close();
  await harness.close();
});

const namespace = 'default';
const inProject = (name: string): string => join(harness.project, name);
const written = (name: string): string => readFileSync(inProject(name), 'utf8');

async function startedWith(handle: string): Promise<Payload[]> {
  const { events } = await harness.history(handle);
  return events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
}

/** Sends the run's start again, under its handle, and waits for what becomes of it. */
async function startAgain(handle: string, payloads?: Payload[]): Promise<string> {
  const copied = payloads ?? (await startedWith(handle));
  const codec: PayloadCodec = { encode: () => Promise.resolve(copied), decode: (given) => Promise.resolve(given) };
  const { workflow } = new Client({ connection, dataConverter: { payloadCodecs: [codec] } });
  const { taskQueue } = harness;
  const run = await workflow.start(WORKFLOW_TYPE, { workflowId: workflowIdOf(handle), taskQueue, args: ['x'] });
  await run.result().catch(() => undefined);
  return (await run.describe()).status.name;
}

test('a copy of the start of a run that has ended performs no step, and changes nothing of its record', async () => {
  const { handle } = await harness.run(once('ships', [shell('echo shipped >> shipped', { onError: 'skip' })]));
  const before = [await harness.store.runs.find(handle), await harness.events(handle)];
  expect(await startAgain(handle)).toBe('TERMINATED');
  await sleep(500);
  expect(written('shipped')).toBe('shipped\n');
  expect([await harness.store.runs.find(handle), await harness.events(handle)]).toEqual(before);
});

test('neither does one of a run that ended before its first step', async () => {
  const handle = await harness.start(once('early', [{ type: 'sleep', durationMs: 2_000 }, shell('touch early')]));
  await updateRun(harness.client, handle, 'stop');
  expect((await harness.result(handle)).outcome).toBe('stopped');
  expect(await startAgain(handle)).toBe('TERMINATED');
  expect(existsSync(inProject('early'))).toBe(false);
});

test('neither does one of a nested run', async () => {
  const inner = once('inner', [shell('echo inner >> inner')]);
  const { handle } = await harness.run(once('outer', [{ type: 'sentinel', definition: inner }]));
  expect(await startAgain(`${handle}/steps.0@1`)).toBe('TERMINATED');
  expect(written('inner')).toBe('inner\n');
});

test('one that takes the place of the run while it is under way performs nothing', async () => {
  const handle = await harness.start(once('replaced', [shell('echo begun >> begun; sleep 600')]));
  await until(() => existsSync(inProject('begun')));
  const payloads = await startedWith(handle);
  await harness.workflow(handle).terminate();
  expect(await startAgain(handle, payloads)).toBe('TERMINATED');
  expect(written('begun')).toBe('begun\n');
});

/** A workflow of the stranger's own, under the run's id, whose only task ends with these commands. */
async function commands(handle: string, ...given: temporal.api.command.v1.ICommand[]): Promise<void> {
  const taskQueue = `strange-${randomUUID()}`;
  const run = await new Client({ connection }).workflow.start('strange', {
    workflowId: workflowIdOf(handle),
    taskQueue,
  });
  const { taskToken } = await connection.withDeadline(Date.now() + 30_000, () =>
    connection.workflowService.pollWorkflowTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      identity: 'stranger',
    }),
  );
  await connection.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands: given });
  await sleep(2_000);
  // A worker that was asked for a copy of a step has ended it.
  await run.terminate().catch(() => undefined);
}

/** An activity of its own: what a segment has done stays done, as the store has it. */
const apart = { retry: { attempts: 2 } };

test('a copy of what a step was given performs it for no other execution', async () => {
  const { handle } = await harness.run(once('steps', [shell('echo step >> step', apart)]));
  const { events } = await harness.history(handle);
  const scheduled = events?.find(
    (event) => event.activityTaskScheduledEventAttributes,
  )?.activityTaskScheduledEventAttributes;
  expect(scheduled).toBeTruthy();
  const { activityId, activityType, input, startToCloseTimeout, heartbeatTimeout } = scheduled ?? {};
  await commands(handle, {
    commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
    scheduleActivityTaskCommandAttributes: {
      taskQueue: { name: harness.taskQueue },
      activityId,
      activityType,
      input,
      startToCloseTimeout,
      heartbeatTimeout,
    },
  } as temporal.api.command.v1.ICommand);
  expect(written('step')).toBe('step\n');
});

test('nor does a run that only says by its name that it was nested in the one around', async () => {
  const inner = once('inner', [shell('echo child >> child')]);
  const { handle } = await harness.run(once('around', [{ type: 'sentinel', definition: inner }]));
  const nested = `${handle}/steps.0@1`;
  const payloads = await startedWith(nested);
  await commands(handle, {
    commandType: temporal.api.enums.v1.CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION,
    startChildWorkflowExecutionCommandAttributes: {
      namespace,
      workflowId: workflowIdOf(nested),
      workflowType: { name: WORKFLOW_TYPE },
      taskQueue: { name: harness.taskQueue },
      input: { payloads },
    },
  });
  expect(written('child')).toBe('child\n');
});

test('a run that is reset goes on, and so do the runs nested in it', async () => {
  const inner = once('inner', [shell('echo again >> nested-again', apart)]);
  const { handle } = await harness.run(
    once('reset', [shell('echo again >> again', apart), { type: 'sentinel', definition: inner }]),
  );
  const { events } = await harness.history(handle);
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await harness.workflow(handle).describe();
  await connection.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: workflowIdOf(handle), runId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'by hand',
  });
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(written('again')).toBe('again\nagain\n');
  expect(written('nested-again')).toBe('again\nagain\n');
});

test('a run that continues as new goes on, with what it let go of, also on a worker that comes later', async () => {
  const alone = once('alone', [shell('while [ ! -e long.go ]; do sleep 0.1; done; touch alone')]);
  const handle = await harness.start(
    once('long', [
      { type: 'sentinel', definition: alone, await: false },
      shell('echo 1 >> long'),
      shell('echo 2 >> long'),
      shell('echo 3 >> long'),
    ]),
    { continueEvery: 1 },
  );
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(written('long')).toBe('1\n2\n3\n');
  await harness.startWorker();
  writeFileSync(inProject('long.go'), '');
  expect((await harness.result(`${handle}/steps.0@1`)).outcome).toBe('completed');
});
