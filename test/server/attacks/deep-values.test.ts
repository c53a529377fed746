/**
 * Values nested deeper than a run can hold. Every door refuses them with the place; what comes past the
 * doors, from Temporal itself, ends or leaves its run, and holds up neither its worker nor other runs.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import type { Json } from '../../../language/json.ts';
import { valueDepthMax } from '../../../language/limits.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import type { AnswerRequest } from '../../../interpreter/questions.ts';
import type { EditRequest } from '../../../interpreter/edits.ts';
import { runStarter } from '../../../runs/start-run.ts';
import { ANSWER, EDIT, UPDATES, workflowIdOf, WORKFLOW_TYPE } from '../../../workflows/messages/messages.ts';
import type { StartInput } from '../../../workflows/messages/start-input.ts';
import { catalogue } from '../../catalogue.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const deep = nested(3_000);
const text = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
const tooLarge = (place: RegExp): object => ({
  code: 'VALUE_TOO_LARGE',
  message: expect.stringMatching(place) as string,
});

const approval: Step = { type: 'approval', message: 'Ship it?', outputTo: 'answer' };

async function asking(handle: string): Promise<string> {
  await harness.start(once(handle, [approval]), { handle });
  await until(async () => (await harness.store.inbox.list({ handle })).length === 1);
  return handle;
}

async function hasEnded(handle: string): Promise<boolean> {
  return ((await harness.store.runs.find(handle))?.finishedAt ?? null) !== null;
}

async function startPastTheDoors(
  handle: string,
  definition: Definition,
  inputs: { [name: string]: Json },
): Promise<void> {
  const start: StartInput = {
    definition,
    definitionHash: contentHash(definition),
    project: harness.project,
    persona: 'tester',
    inputs,
  };
  await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue: harness.taskQueue,
    args: [start],
  });
}

test('a run that Temporal was told to start with a deep input has failed, and says why', async () => {
  await startPastTheDoors('deep-input', once('echoes', [shell('echo hello')]), { x: deep });
  await until(() => hasEnded('deep-input'), 20_000);
  expect(await harness.store.runs.find('deep-input')).toMatchObject({
    status: 'failed',
    failure: tooLarge(/^the input "x" is nested deeper than 500 levels/),
    inputs: {},
  });
});

test('an input as deep as one may be goes through a run, its nested run, and events', async () => {
  const inner = once('inner', [
    create('kept', { it: '$x' }, 'row'),
    shell('echo "$row" | wc -c', { outputTo: 'said' }),
  ]);
  const { result } = await harness.run(
    once('outer', [
      { type: 'sentinel', definition: inner, outputTo: 'inner' },
      { type: 'emit', event: 'deep', data: '$x' },
    ]),
    { inputs: { x: nested(valueDepthMax - 5) } },
  );
  expect(result).toMatchObject({ outcome: 'completed' });
});

test('a run that makes a value deeper with each pass fails at the step that goes too far', async () => {
  const wraps = counted('wraps', 600, [create('layers', { inner: '$layer' }, 'layer')]);
  const { result } = await harness.run(wraps, { inputs: { layer: nested(480) } });
  expect(result).toMatchObject({ outcome: 'failed', failure: tooLarge(/^steps\.0@\d+: .*nested deeper than/) });
  expect(result.iterations).toBeGreaterThan(10);
});

test('a deep answer is refused by the run itself, which goes on waiting', async () => {
  const handle = await asking('asked-deeply');
  const request: AnswerRequest = { id: 'steps.0@1', choice: 'approve', by: 'ada', data: deep };
  await expect(
    harness.workflow(handle).executeUpdate<unknown, [AnswerRequest]>(ANSWER, { args: [request] }),
  ).rejects.toMatchObject({ cause: { type: 'VALUE_TOO_LARGE' } });
  await harness.workflow(handle).executeUpdate<unknown, [AnswerRequest]>(ANSWER, { args: [{ ...request, data: 1 }] });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
});

test('so is a deep edit, and a deep reason', async () => {
  const handle = await asking('edited-deeply');
  const edit: EditRequest = { op: 'add', path: 'steps.1', step: deep, revision: 0, by: 'ada' };
  await expect(
    harness.workflow(handle).executeUpdate<unknown, [EditRequest]>(EDIT, { args: [edit] }),
  ).rejects.toMatchObject({ cause: { type: 'VALUE_TOO_LARGE' } });
  await expect(
    harness.workflow(handle).executeUpdate<unknown, [Json]>(UPDATES.pause, { args: [deep] }),
  ).rejects.toMatchObject({ cause: { type: 'VALUE_TOO_LARGE' } });
  await harness.say(handle, 'stop');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped' });
});

test('nothing of it is started: a run, a run of a command, a trigger, a schedule', async () => {
  const definition = once('never', [shell('true')]);
  const parts = { store: harness.store, client: harness.client, catalogue, taskQueue: harness.taskQueue };
  const request = { definition, inputs: { x: deep }, project: harness.project, persona: 'tester' };
  const refusal = tooLarge(/^the input "x" is nested deeper/);
  await expect(harness.start(definition, { inputs: { x: deep } })).rejects.toMatchObject(refusal);
  await expect(
    runStarter(parts).start({
      handed: { written: definition as unknown as Json },
      inputs: request.inputs,
      project: request.project,
      persona: request.persona,
      handle: 'never',
      by: 'another',
      inherited: {
        depth: 1,
        limits: { maxIterations: null, timeoutMs: null, stepTimeoutMs: null, nestingDepth: null },
      },
    }),
  ).rejects.toMatchObject(refusal);
  await expect(addTrigger(parts, { ...request, event: 'never' })).rejects.toMatchObject(refusal);
  const scheduled: Definition = { ...definition, trigger: { type: 'schedule', cronExpression: '0 3 * * *' } };
  await expect(addTrigger(parts, { ...request, definition: scheduled })).rejects.toMatchObject(refusal);
  expect(await harness.store.runs.find('never')).toBeNull();
});

test('an event that was stored with deep data starts no run, and says so at once', async () => {
  const { store, client, taskQueue, project } = harness;
  const added = await addTrigger(
    { store, client, catalogue, taskQueue },
    { definition: once('eventful', [shell('true')]), inputs: {}, project, persona: 'tester', event: 'deep:event' },
  );
  const id = added.type === 'event' ? added.trigger.id : '';
  await store.triggers.publish({ source: '@emit', id: '1', name: 'deep:event', data: deep, project: null });
  await until(async () => (await store.triggers.starts(id, 10))[0]?.state === 'refused', 20_000);
  expect((await store.triggers.starts(id, 10))[0]?.reason).toMatch(/^the input "event" is nested deeper/);
});

test(
  'the command line refuses it with the place, before anything is asked of anybody',
  { timeout: 120_000 },
  async () => {
    const handle = await asking('asked-by-command');
    const file = join(harness.project, 'never.json');
    writeFileSync(file, JSON.stringify(once('never', [shell('true')])));
    const inputs = join(harness.project, 'inputs.json');
    writeFileSync(inputs, `{"x": ${text(60_000)}}`);
    const said: [string[], RegExp][] = [
      [['run', file, '--input-file', inputs], /--input-file .*inputs\.json: "x" is nested deeper/],
      [['run', file, '--input', `x=${text(3_000)}`], /--input x is nested deeper/],
      [['emit', 'deep:told', '--data', text(60_000)], /--data is nested deeper than 499/],
      [['answer', handle, 'approve', '--data', text(3_000)], /--data is nested deeper/],
      [['step', 'add', handle, 'steps.1', '--step', `{"a": ${text(3_000)}}`], /--step is nested deeper/],
      [['schedule', 'create', file, '--cron', '@daily', '--input', `x=${text(3_000)}`], /--input x is nested deeper/],
      [['fork', handle, '--at', 'steps.0@1', '--set', `x=${text(3_000)}`], /--set x is nested deeper/],
      [['simulate', file, '--input', `x=${text(3_000)}`], /--input x is nested deeper/],
    ];
    for (const [args, says] of said) {
      const { code, err } = await harness.command(...args);
      expect({ args: args.slice(0, 2), code, err }).toEqual({
        args: args.slice(0, 2),
        code: 2,
        err: expect.stringMatching(says) as string,
      });
      expect(err).not.toMatch(/ {4}at /);
    }
    const { out } = await harness.command('emit', 'deep:told', '--data', text(60_000), '--json');
    expect(JSON.parse(out)).toMatchObject({ ok: false, error: { code: 'VALUE_TOO_LARGE' } });
    await harness.say(handle, 'stop');
  },
);

const prints = (levels: number): Definition =>
  once('prints', [
    shell(`node -e 'console.log("[".repeat(${levels}) + "]".repeat(${levels}))'`, { name: 'prints' }),
    create('printed', { it: '{{named.prints.data}}' }, 'row'),
  ]);

test('what a step prints is a value only as deep as one may be', async () => {
  const [fine, deeper] = [await harness.run(prints(2)), await harness.run(prints(3_000))];
  expect(fine.result.outputs).toMatchObject({ row: { it: [[]] } });
  // Left as the text it is.
  expect(deeper.result.outputs).toMatchObject({ row: { it: expect.stringMatching(/^\[{3000}\]{3000}$/) as string } });
});

test('the worker has gone on meanwhile, and ends within its time', async () => {
  expect(worker.isAlive).toBe(true);
  expect((await harness.run(once('after', [shell('echo on')]))).result).toMatchObject({ outcome: 'completed' });
  const askedAt = Date.now();
  await worker.stop();
  expect(Date.now() - askedAt).toBeLessThan(10_000);
});
