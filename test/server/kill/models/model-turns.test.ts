/** A model step over a dead worker: each answer that arrived is paid once, and the run ends as the undisturbed one does. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TellReply, TellRequest } from '../../../../interpreter/models/telling.ts';
import { canBeKept } from '../../../../operations/shell/run-shell.ts';
import { TELL } from '../../../../workflows/messages/messages.ts';
import { once } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import { ModelDouble } from '../../harness/models/model-double.ts';
import { answers, calls } from '../../harness/models/model-runs.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeEach(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

/** Where a process can, the call goes on with it; else it is made again. */
const outlives = await canBeKept({});

const paid = (): number => model.double.asked.filter(({ path }) => path === wire.path).length;

const definition = once('asking', [
  {
    type: 'llm',
    model: 'openai/some-model',
    prompt: 'Look at a.txt and write b.txt',
    tools: ['code/read', 'code/shell/execute'],
    onUnknown: 'retry',
    outputTo: 'answer',
  },
  { type: 'emit', event: 'asked', data: { turns: '$answer.turns', usage: '$answer.usage.tokens' } },
]);

test('the answer is paid once where the worker dies in a call, and in the turn after it only that turn again', async () => {
  model.next(
    calls({ id: '1', name: 'code_read', input: { path: 'a.txt' } }),
    calls({
      id: '2',
      name: 'code_shell_execute',
      input: { command: 'echo called >> called; sleep 2; echo done > b.txt; echo done' },
    }),
    { silentMs: Number.POSITIVE_INFINITY },
    answers('Done.'),
  );
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(definition);
  await until(() => existsSync(join(harness.project, 'called')));
  expect(paid()).toBe(2);
  await first.kill9();
  const second = await harness.startWorker(model.env);
  await until(() => paid() === 3);
  await second.kill9();
  await harness.startWorker(model.env);
  const result = await harness.result(handle);
  expect(result).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  // The third turn had not answered when its worker died: it is asked for again, and no other.
  expect(paid()).toBe(4);
  const last = wire.messages(model.double.asked.at(-1)?.body ?? {});
  expect(last.flatMap(({ results }) => results.map(({ id, isError }) => [id, isError]))).toEqual([
    ['1', false],
    ['2', false],
  ]);
  expect(JSON.stringify(last)).toContain('what a says');
  const events = await harness.events(handle);
  expect(
    events.flatMap((event) => (event.type === 'step-finished' ? [`${event.key} ${event.step} ${event.outcome}`] : [])),
  ).toEqual([
    'steps.0@1/turn.1/call.0 command ok',
    ...(outlives
      ? ['steps.0@1/turn.2/call.0 command ok']
      : ['steps.0@1/turn.2/call.0 command failed', 'steps.0@1/turn.2/call.0#2 command ok']),
    'steps.0@1 llm ok',
    'steps.1@1 emit ok',
  ]);
  expect(readFileSync(join(harness.project, 'called'), 'utf8')).toBe('called\n'.repeat(outlives ? 1 : 2));
  const shown = await harness.command('transcript', handle, 'steps.0@1');
  expect(shown.code).toBe(0);
  for (const line of ['→ code/read {"path":"a.txt"}', 'what a says', 'Done.']) expect(shown.out).toContain(line);
  expect((await harness.command('transcript', handle, 'steps.9@1')).code).toBe(2);
  const history = JSON.stringify(await harness.history(handle));
  expect(history).not.toContain('what a says');
});

test('what a provider asks to wait is waited for, over a dead worker, and nobody asks before', async () => {
  model.next(wire.errors.rateLimited({ 'retry-after': '6' }), answers('Hello.'));
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(
    once('waiting', [{ type: 'llm', model: 'openai/some-model', prompt: 'Hi', outputTo: 'answer' }]),
  );
  await until(async () => (await harness.events(handle)).some(({ type }) => type === 'warning'));
  const asked = Date.now();
  await first.kill9();
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Hello.' } });
  expect(Date.now() - asked).toBeGreaterThan(4500);
  expect(paid()).toBe(2);
  const [warning] = (await harness.events(handle)).filter((event) => event.type === 'warning');
  expect(warning?.message).toMatch(/^steps\.0@1 is waiting for openai until \d{4}-/);
});

test('what the model was told is said once, over a dead worker', async () => {
  model.next(
    calls({
      id: '1',
      name: 'code_shell_execute',
      input: { command: 'touch begun; until [ -e go ]; do sleep 0.1; done; echo went on' },
    }),
    answers('Done.'),
  );
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(definition);
  await until(() => existsSync(join(harness.project, 'begun')));
  const request = { id: 'one', text: 'Mind the gap', by: 'ada' };
  const tell = (): Promise<TellReply> =>
    harness.workflow(handle).executeUpdate<TellReply, [TellRequest]>(TELL, { args: [request] });
  expect(await tell()).toEqual({ id: 'one', step: 'steps.0@1', already: false });
  await first.kill9();
  await harness.startWorker(model.env);
  expect(await tell()).toEqual({ id: 'one', step: 'steps.0@1', already: true });
  writeFileSync(join(harness.project, 'go'), '');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(paid()).toBe(2);
  const said = wire
    .messages(model.double.asked.at(-1)?.body ?? {})
    .filter(({ texts }) => texts.includes('Mind the gap'));
  expect(said).toHaveLength(1);
  expect((await harness.events(handle)).filter(({ type }) => type === 'told')).toHaveLength(1);
});
