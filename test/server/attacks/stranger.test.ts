/**
 * A stranger reaches Temporal: another user of the machine, a web page, a neighbour in the network. They have no
 * key. They start nothing, steer nothing and read nothing, and what they send stops no run.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSchedule, steerSchedule } from '../../../runs/schedules.ts';
import { answerRun, editRun, stateOfRun, updateRun } from '../../../runs/steer-run.ts';
import { sealedClient, viewerOf } from '../../../runs/temporal-connection.ts';
import { keysIn, newKeyText } from '../../../services/config/seal-key.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import {
  ANSWER,
  EDIT,
  QUERIES,
  SIGNALS,
  UPDATES,
  workflowIdOf,
  WORKFLOW_TYPE,
} from '../../../workflows/messages/messages.ts';
import type { SentMessage } from '../../../workflows/messages/sent-message.ts';
import { catalogue } from '../../catalogue.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, sharedAddresses, until } from '../harness/harness.ts';

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

/** Sends these very payloads, whatever it is given, or else in clear. What it is told is opened for the test to see. */
const stranger = (...payloads: Payload[]): Client => {
  const codec: PayloadCodec = {
    encode: (given) => Promise.resolve(given.map((payload, index) => payloads[index] ?? payload)),
    decode: (given) => viewerOf(harness.client).decode(given),
  };
  return new Client({ connection, dataConverter: { payloadCodecs: [codec] } });
};

const ofAnotherHome = (): Client =>
  sealedClient({ connection, namespace: 'default', store: harness.store, keys: keysIn(newKeyText()) });

const inProject = (name: string): string => join(harness.project, name);

function touching(name: string): { definition: Definition; project: string; persona: string } {
  return { definition: once('strange', [shell(`touch ${name}`)]), project: harness.project, persona: 'tester' };
}

/** A run that says `begun`, then waits until `go` is there. */
async function waiting(handle: string, rest: Step[] = []): Promise<void> {
  await harness.start(once(handle, [shell(`while [ ! -e ${handle}.go ]; do sleep 0.1; done`), ...rest]), { handle });
  await harness.untilEvent(handle, ({ type }) => type === 'step-started');
  // A segment has begun it, and its run goes on with it a moment later.
  await until(async () => (await harness.state(handle)).current.length > 0);
}

const letGo = (handle: string): void => writeFileSync(inProject(`${handle}.go`), '');

async function startBy(client: Client, workflowId: string, args: unknown[]): Promise<unknown> {
  const { taskQueue } = harness;
  const run = await client.workflow.start(WORKFLOW_TYPE, { workflowId, taskQueue, args });
  return run.result().catch((error: unknown) => (error instanceof WorkflowFailedError ? error.cause : error));
}

test('a start in clear runs no step, and ends at once', async () => {
  const cause = await startBy(stranger(), workflowIdOf('strange-1'), [touching('strange-1')]);
  expect(cause).toMatchObject({ type: 'NOT_SEALED' });
  expect(existsSync(inProject('strange-1'))).toBe(false);
  expect(await harness.store.runs.find('strange-1')).toBeNull();
  // The twin: the owner starts the very same.
  const { result } = await harness.run(touching('strange-1').definition);
  expect(result.outcome).toBe('completed');
  expect(existsSync(inProject('strange-1'))).toBe(true);
});

test('so does one without any input, and one of another run', async () => {
  expect(await startBy(stranger(), workflowIdOf('strange-2'), [])).toMatchObject({ type: 'NOT_SEALED' });
  const handle = await harness.start(once('honest', [shell('echo honest >> honest')]));
  await harness.result(handle);
  const [start] = (await startedWith(handle)).slice(0, 1);
  expect(await startBy(stranger(start ?? {}), workflowIdOf('strange-3'), ['x'])).toMatchObject({
    type: 'NOT_SEALED',
  });
  expect(readFileSync(inProject('honest'), 'utf8')).toBe('honest\n');
});

test('a start that another home has sealed runs no step', async () => {
  const run = await ofAnotherHome().workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf('strange-4'),
    taskQueue: harness.taskQueue,
    args: [touching('strange-4')],
  });
  await until(async () => JSON.stringify(await run.fetchHistory()).includes('orkflowTaskFailed'));
  await run.terminate();
  expect(existsSync(inProject('strange-4'))).toBe(false);
});

async function startedWith(handle: string): Promise<Payload[]> {
  const { events } = await harness.history(handle);
  return events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
}

const garbage = [
  'stop',
  { to: SIGNALS.control, id: 'x', at: Date.now(), args: ['stop', 99] },
  0,
  null,
  { x: 'y'.repeat(50_000) },
];

test('a signal that is not sealed for the run is dropped, and holds up nothing', async () => {
  await waiting('signalled');
  const id = workflowIdOf('signalled');
  for (const client of [stranger(), ofAnotherHome()]) {
    for (const arg of garbage) {
      await client.workflow.getHandle(id).signal(SIGNALS.control, arg);
      await client.workflow.getHandle(id).signal(SIGNALS.event, arg);
      await client.workflow.getHandle(id).signal(SIGNALS.nested, arg);
    }
    await client.workflow.getHandle(id).signal('unheard-of', 'x');
  }
  for (const name of [SIGNALS.control, SIGNALS.nested]) await stranger().workflow.getHandle(id).signal(name);
  const forged: SentMessage = { to: SIGNALS.nested, id: 'x', at: Date.now(), args: [{}, { word: 'x', isStill: 1 }] };
  await stranger().workflow.getHandle(id).signal(SIGNALS.nested, forged, 'signalled/steps.0@1', null);
  expect(await stateOfRun(harness.client, 'signalled')).toMatchObject({ status: 'running', stopping: false });
  letGo('signalled');
  expect((await harness.result('signalled')).outcome).toBe('completed');
  expect(JSON.stringify(await harness.history('signalled'))).not.toContain('orkflowTaskFailed');
});

const update = (client: Client, handle: string, name: string, args: unknown[]): Promise<unknown> =>
  client.workflow
    .getHandle(workflowIdOf(handle))
    .executeUpdate(name, { args: args as [] })
    .then(
      (value) => ({ value }),
      (error: unknown) => (error instanceof WorkflowUpdateFailedError ? error.cause : error),
    );

test('an update and a query are refused; the owner is obeyed', async () => {
  await waiting('steered', [shell('echo never')]);
  const id = workflowIdOf('steered');
  for (const client of [stranger(), ofAnotherHome()]) {
    for (const name of [UPDATES.pause, UPDATES.resume, UPDATES.stop, 'answer', 'edit', 'tell', 'unheard-of'])
      for (const args of [[], ['x'], [{ to: name, id: 'x', at: Date.now(), args: ['x'] }]]) {
        expect(await update(client, 'steered', name, args)).toBeInstanceOf(ApplicationFailure);
      }
    for (const query of Object.values(QUERIES))
      await expect(client.workflow.getHandle(id).query(query)).rejects.toThrow();
  }
  await expect(stateOfRun(ofAnotherHome(), 'steered')).rejects.toMatchObject({
    code: 'NOT_SEALED',
    message: expect.stringContaining('"status" for steered is not taken: ') as string,
  });
  expect(await stateOfRun(harness.client, 'steered')).toMatchObject({ status: 'running', stopping: false });
  expect(await updateRun(harness.client, 'steered', 'pause', 'the owner says so')).toMatchObject({ status: 'paused' });
  expect(await updateRun(harness.client, 'steered', 'resume')).toMatchObject({ status: 'running' });
  expect(await updateRun(harness.client, 'steered', 'stop')).toMatchObject({ stopping: true });
  letGo('steered');
  expect((await harness.result('steered')).outcome).toBe('stopped');
});

test('a copy of what the owner said is not taken again', async () => {
  await waiting('copied', [shell('echo later')]);
  await updateRun(harness.client, 'copied', 'pause', 'first');
  await updateRun(harness.client, 'copied', 'resume');
  await updateRun(harness.client, 'copied', 'pause', 'again');
  const { events } = await harness.history('copied');
  const said = (events ?? []).flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) => {
    const { input } = accepted?.acceptedRequest ?? {};
    return input?.name === UPDATES.resume ? (input.args?.payloads ?? []) : [];
  });
  expect(said).toHaveLength(1);
  for (const name of [UPDATES.resume, UPDATES.stop]) {
    expect(await update(stranger(...said), 'copied', name, ['x'])).toMatchObject({ type: 'NOT_SEALED' });
  }
  expect(await stateOfRun(harness.client, 'copied')).toMatchObject({ status: 'paused', stopping: false });
  await updateRun(harness.client, 'copied', 'resume');
  letGo('copied');
  expect((await harness.result('copied')).outcome).toBe('completed');
});

test('what a run asks is answered by its owner alone', async () => {
  const handle = await harness.start(once('asks', [{ type: 'approval', message: 'Ship it?' }, shell('touch shipped')]));
  await until(async () => (await harness.store.inbox.open(handle)).length > 0);
  const { questions } = await stateOfRun(harness.client, handle);
  const [question] = questions;
  const request = { id: question?.id ?? '', digest: question?.digest ?? '', choice: 'approve', by: 'ada' } as const;
  const message: SentMessage = { to: ANSWER, id: 'x', at: Date.now(), args: [request] };
  for (const client of [stranger(), ofAnotherHome()])
    for (const arg of [request, message]) {
      expect(await update(client, handle, ANSWER, [arg])).toBeInstanceOf(ApplicationFailure);
    }
  await sleep(500);
  expect(existsSync(inProject('shipped'))).toBe(false);
  await answerRun(harness.client, handle, request);
  expect((await harness.result(handle)).outcome).toBe('completed');
});

const secret = 'mark-7f3a';

/** Everything that Temporal's API tells of a workflow, as it comes over the wire. */
async function toldOf(workflowId: string): Promise<Buffer> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId },
  });
  const described = await connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId },
  });
  const { History } = temporal.api.history.v1;
  const { DescribeWorkflowExecutionResponse: Described } = temporal.api.workflowservice.v1;
  return Buffer.concat([History.encode(history ?? {}).finish(), Described.encode(described).finish()]);
}

test('nothing that a run says or does can be read', async () => {
  const inner = once('inner', [shell(`echo ${secret} >&2; exit 3`, { failOn: 'nonzero' })]);
  const definition: Definition = once(
    'whispers',
    [
      shell(`echo ${secret}-out`, { outputTo: 'said', name: `prints ${secret}` }),
      {
        type: 'command',
        command: 'data/create',
        params: { collection: 'told', data: { text: `${secret} {{said.stdout}}` } },
      },
      { type: 'sentinel', definition: inner, onError: 'skip' },
      shell(`echo ${secret}-beating; while [ ! -e whispers.go ]; do sleep 0.1; done`),
      { type: 'fail', message: `${secret} failed` },
    ],
    { description: `Says ${secret}`, inputs: { given: secret } },
  );
  const handle = await harness.start(definition, { handle: 'whispers', inputs: { given: `${secret}-given` } });
  await until(async () => (await harness.events(handle)).some(({ key }) => key === 'steps.3@1'));
  await updateRun(harness.client, handle, 'pause', `${secret} says so`);
  const during = await toldOf(workflowIdOf(handle));
  await updateRun(harness.client, handle, 'resume');
  letGo('whispers');
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'failed',
    failure: { message: expect.stringContaining(secret) as string },
  });
  const told = [during, await toldOf(workflowIdOf(handle)), await toldOf(workflowIdOf(`${handle}/steps.2@1`))];
  for (const bytes of told) {
    expect(bytes.length).toBeGreaterThan(500);
    expect(bytes.includes(secret)).toBe(false);
    expect(bytes.includes(Buffer.from(secret).toString('base64').slice(0, 10))).toBe(false);
  }
  // The twin: whoever has the key reads it.
  expect(JSON.stringify((await harness.events(handle)).at(-1))).toContain(secret);
  expect(JSON.stringify(await harness.opened((await startedWith(handle))[0] ?? {}))).toContain(secret);
  expect(await harness.client.workflow.getHandle(workflowIdOf(handle)).describe()).toMatchObject({
    memo: { description: `Says ${secret}` },
  });
});

test('nor what a schedule starts', async () => {
  const { store, client, taskQueue, project } = harness;
  const definition = once('nightly', [shell(`echo ${secret} > scheduled`)], { description: secret });
  const parts = { store, client, catalogue, taskQueue };
  const request = { definition, inputs: {}, project, persona: 'tester', id: 'nightly-told' };
  await createSchedule(parts, { ...request, cron: '0 3 1 1 *' });
  const described = await connection.workflowService.describeSchedule({ namespace: 'default', scheduleId: request.id });
  const listed = await connection.workflowService.listSchedules({ namespace: 'default', maximumPageSize: 100 });
  const { DescribeScheduleResponse: Described, ListSchedulesResponse: Listed } = temporal.api.workflowservice.v1;
  for (const bytes of [Described.encode(described).finish(), Listed.encode(listed).finish()])
    expect(Buffer.from(bytes).includes(secret)).toBe(false);
  await steerSchedule(parts, request.id, 'trigger');
  await until(() => existsSync(inProject('scheduled')));
  // What was sealed for the schedule starts no run that is not its own.
  const { schedule } = described;
  const [start = {}] = schedule?.action?.startWorkflow?.input?.payloads ?? [];
  expect(await startBy(stranger(start), workflowIdOf('strange-5'), ['x'])).toMatchObject({
    type: 'NOT_SEALED',
  });
  await steerSchedule(parts, request.id, 'delete');
});

test('a stranger who completes a step for the worker ends the run, and no step takes it for a result', async () => {
  await waiting('forged', [shell('touch forged')]);
  await connection.workflowService.respondActivityTaskCompletedById({
    namespace: 'default',
    workflowId: workflowIdOf('forged'),
    activityId: 'steps.0@1',
    result: { payloads: [defaultPayloadConverter.toPayload({ exitCode: 0, stdout: 'forged', stderr: '' })] },
  });
  const { failure } = await harness.result('forged').catch((error: unknown) => ({
    failure: {
      code: error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure ? error.cause.type : '',
    },
  }));
  expect(failure).toMatchObject({ code: 'NOT_SEALED' });
  letGo('forged');
  await sleep(500);
  expect(existsSync(inProject('forged'))).toBe(false);
});

test('an edit of the owner is made, and a copy of it is not', async () => {
  await waiting('edited', [shell('echo first')]);
  const edit = { revision: 0, op: 'update', path: 'steps.1', step: shell('touch edited'), by: 'ada' } as const;
  await editRun(harness.client, 'edited', { ...edit, step: { ...edit.step } as JsonObject });
  const { events } = await harness.history('edited');
  const [said = {}] = (events ?? []).flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) =>
      accepted?.acceptedRequest?.input?.args?.payloads ?? [],
  );
  expect(await update(stranger(said), 'edited', EDIT, ['x'])).toMatchObject({
    type: 'NOT_SEALED',
  });
  letGo('edited');
  expect((await harness.result('edited')).outcome).toBe('completed');
  expect(existsSync(inProject('edited'))).toBe(true);
});
