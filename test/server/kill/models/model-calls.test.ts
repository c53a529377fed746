/** Calls of a model over dead workers: none is made twice without a word, and what is in doubt is asked about. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LlmStep } from '../../../../language/model.ts';
import { ANSWER } from '../../../../workflows/messages/messages.ts';
import { once } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import { killAt, openModel, runUndisturbed } from '../../harness/models/killed-models.ts';
import { answers, calls, ScriptedModel } from '../../harness/models/model-runs.ts';

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

const asking = (name: string, rest: Partial<LlmStep>): ReturnType<typeof once> =>
  once('asking', [
    {
      type: 'llm',
      model: 'openai/some-model',
      prompt: `${name} Write down that it was done`,
      tools: ['code/shell/execute'],
      outputTo: 'answer',
      ...rest,
    },
  ]);

const told = (name: string): string => {
  const bodies = model.double.asked.map(({ body }) => JSON.stringify(body));
  return bodies.findLast((body) => body.includes(`${name} Write`)) ?? '';
};
const begun = (name: string): string => join(harness.project, `${name}.begun`);
const lines = (name: string): string => readFileSync(begun(name), 'utf8');

test('what becomes of calls whose worker died is asked, verified, or decided, and never done twice without a word', async () => {
  model = await new ScriptedModel(({ name, turn }) => {
    const command = `echo begun >> ${name}.begun; test -f ${name}.again && echo finished && exit 0; touch ${name}.again; sleep 30`;
    return turn === 1 ? calls({ id: '1', name: 'code_shell_execute', input: { command } }) : answers('I see.');
  }).open();
  const worker = await harness.startWorker(model.env);
  const verification = { verify: 'code/shell/execute', params: { command: 'test -f verified.begun' } };
  const [asked, verified, repeated] = [
    await harness.start(asking('asked', {})),
    await harness.start(asking('verified', { onUnknown: verification })),
    await harness.start(asking('repeated', { onUnknown: 'retry' })),
  ];
  await until(() => ['asked', 'verified', 'repeated'].every((name) => existsSync(begun(name))));
  await worker.kill9();
  await harness.loseProcesses();
  await harness.startWorker(model.env);
  await isAsked(asked);
  expect(await harness.result(verified)).toMatchObject({ outcome: 'completed' });
  expect(lines('verified')).toBe('begun\n');
  expect(told('verified')).toContain('This call was done');
  await isRepeated(repeated);
});

test('a command that a model has called goes on while its worker dies, and nobody is asked', async () => {
  model = await new ScriptedModel(({ name, turn }) => {
    const command = `echo begun >> ${name}.begun; sleep 4; echo finished`;
    return turn === 1 ? calls({ id: '1', name: 'code_shell_execute', input: { command } }) : answers('I see.');
  }).open();
  const worker = await harness.startWorker(model.env);
  const handle = await harness.start(asking('going', {}));
  await until(() => existsSync(begun('going')));
  await worker.kill9();
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'I see.' } });
  expect(lines('going')).toBe('begun\n');
  expect(told('going')).toContain('finished');
  expect((await harness.events(handle)).filter(({ type }) => type === 'asked' || type === 'warning')).toEqual([]);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ key, state: 'done', tries: 1 }]);
});

async function isAsked(handle: string): Promise<void> {
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const id = `${key}:unknown`;
  const { questions } = await harness.state(handle);
  const choices = ['retry', 'skip', 'abort'];
  expect(questions).toMatchObject([{ id, kind: 'unfamiliar', choices, assignee: 'tester' }]);
  const [item] = await harness.store.inbox.list({ handle });
  expect(item).toMatchObject({ id, message: expect.stringContaining('may have been done') as string });
  await harness
    .workflow(handle)
    .executeUpdate(ANSWER, { args: [{ id, choice: 'skip', note: 'it was done', by: 'tester' }] });
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'I see.' } });
  expect(lines('asked')).toBe('begun\n');
  expect(told('asked')).toContain('It is not known whether this call was done');
  expect(told('asked')).toContain('tester says: it was done');
  expect(model.paid.get('asked')).toEqual([1, 1]);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ key, state: 'begun', tries: 1 }]);
}

async function isRepeated(handle: string): Promise<void> {
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(lines('repeated')).toBe('begun\nbegun\n');
  expect(told('repeated')).toContain('finished');
  const said = (await harness.events(handle)).flatMap((event) => {
    if (event.type === 'step-finished') return [`${event.key} ${event.outcome}`];
    return event.type === 'warning' ? [`${event.key} ${event.code}`] : [];
  });
  expect(said).toEqual([`${key} failed`, `${key}#2 CALL_REPEATED`, `${key}#2 ok`, 'steps.0@1 ok']);
  expect(await harness.store.calls.list(handle)).toMatchObject([{ key: `${key}#2`, state: 'done', tries: 2 }]);
}

test('runs of 20 turns whose worker is killed pay no answer twice, and end as one that nothing disturbs', async () => {
  model = await openModel();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  await runUndisturbed(harness, model);
  await killAt(harness, model, 'few', [0.15, 0.4, 0.65, 0.9]);
});
