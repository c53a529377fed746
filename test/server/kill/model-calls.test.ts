/** Calls of a model over dead workers: none is made twice without a word, and what is in doubt is asked about. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LlmStep } from '../../../language/model.ts';
import { ANSWER } from '../../../workflows/messages/messages.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { killAt, openModel, runUndisturbed } from '../harness/models/killed-models.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';

let harness: Harness;
let model: ScriptedModel;
beforeEach(async () => {
  harness = await Harness.open();
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

const key = 'steps.0@1/turn.1/call.0';

const asking = (rest: Partial<LlmStep>): ReturnType<typeof once> =>
  once('asking', [
    {
      type: 'llm',
      model: 'openai/some-model',
      prompt: 'one Write down that it was done',
      tools: ['code/shell/execute'],
      outputTo: 'answer',
      ...rest,
    },
  ]);

/** A run whose worker dies in its call. */
async function lostInCall(rest: Partial<LlmStep>, command: string): Promise<string> {
  model = await new ScriptedModel().open(({ turn }) =>
    turn === 1 ? calls({ id: '1', name: 'code_shell_execute', input: { command } }) : answers('I see.'),
  );
  const worker = await harness.startWorker(model.environment);
  const handle = await harness.start(asking(rest));
  await until(() => existsSync(join(harness.project, 'begun')));
  await worker.kill9();
  await harness.startWorker(model.environment);
  return handle;
}

const told = (): string => JSON.stringify(model.double.asked.at(-1)?.body ?? {});
const lines = (): string => readFileSync(join(harness.project, 'begun'), 'utf8');

test('a persona is asked about a call whose worker died, and what it says is told to the model', async () => {
  const handle = await lostInCall({}, 'echo begun >> begun; sleep 30');
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const { questions } = await harness.state(handle);
  expect(questions).toMatchObject([
    { id: `${key}:unknown`, kind: 'unfamiliar', choices: ['retry', 'skip', 'abort'], assignee: 'tester' },
  ]);
  const inbox = await harness.command('inbox');
  expect(inbox.out).toContain('may have been done');
  await harness
    .workflow(handle)
    .executeUpdate(ANSWER, { args: [{ id: `${key}:unknown`, choice: 'skip', note: 'it was done', by: 'tester' }] });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'I see.' } });
  expect(lines()).toBe('begun\n');
  expect(told()).toContain('It is not known whether this call was done');
  expect(told()).toContain('tester says: it was done');
  expect(model.paid.get('one')).toEqual([1, 1]);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ key, state: 'begun', tries: 1 }]);
});

test('a command is asked whether the call was done, which is then not made again', async () => {
  const onUnknown = { verify: 'code/shell/execute', params: { command: 'test -f begun' } };
  const handle = await lostInCall({ onUnknown }, 'echo begun >> begun; sleep 30');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(lines()).toBe('begun\n');
  expect(told()).toContain('This call was done');
});

test('a call that is made again by decision is said to be, and has a key of its own', async () => {
  const command = 'echo begun >> begun; test -f again && echo finished && exit 0; touch again; sleep 30';
  const handle = await lostInCall({ onUnknown: 'retry' }, command);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(lines()).toBe('begun\nbegun\n');
  expect(told()).toContain('finished');
  const events = await harness.events(handle);
  expect(
    events.flatMap((event) =>
      event.type === 'step-finished'
        ? [`${event.key} ${event.outcome}`]
        : event.type === 'warning'
          ? [`${event.key} ${event.code}`]
          : [],
    ),
  ).toEqual([`${key} failed`, `${key}#2 CALL_REPEATED`, `${key}#2 ok`, 'steps.0@1 ok']);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ key: `${key}#2`, state: 'done', tries: 2 }]);
});

test('runs of 20 turns whose worker is killed pay no answer twice, and end as one that nothing disturbs', async () => {
  model = await openModel();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  await runUndisturbed(harness, model);
  await killAt(harness, model, 'few', [0.15, 0.4, 0.65, 0.9]);
});
