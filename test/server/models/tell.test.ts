/** What a person tells a model while its step is under way, and a pause between its turns. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LlmStep, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';
import { openAiWire } from '../../models/wires/openai-wire.ts';
import { callsTo, ModelDouble, MODEL, says } from '../harness/models/model-double.ts';

let harness: Harness;
let model: ModelDouble;
beforeAll(async () => {
  model = await new ModelDouble().open();
  harness = await Harness.open();
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});
beforeEach(() => {
  model.double.forget();
  model.double.asked.length = 0;
});

const asking: LlmStep = {
  type: 'llm',
  model: MODEL,
  prompt: 'Look around',
  tools: ['code/shell/execute'],
  outputTo: 'answer',
};

/** A call that is under way until `name` is made. */
const waits = (name: string): ReturnType<typeof callsTo> =>
  callsTo('1', 'code_shell_execute', {
    command: `touch ${name}.begun; until [ -e ${name} ]; do sleep 0.05; done; echo went on`,
  });
const lists = (id: string): ReturnType<typeof callsTo> => callsTo(id, 'data_list', { collection: 'nothing' });
const inner = (name: string): Step => ({ type: 'sentinel', definition: once(name, [asking]), outputTo: name });
const begins = (name: string): Promise<void> => until(() => existsSync(join(harness.project, `${name}.begun`)));
const letGo = (name: string): void => writeFileSync(join(harness.project, name), '');

test('what a model is told is a message of the user before its next turn, once, and is seen everywhere', async () => {
  model.next(waits('first'), says('Done, with care.'));
  const handle = await harness.start(once('told', [asking]), { handle: 'told' });
  await begins('first');
  const told = await harness.command('tell', handle, 'Mind the gap', '--id', 'one', '--json');
  expect(told).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(told.out)).toEqual({ ok: true, handle, id: 'one', step: 'steps.0@1', already: false });
  const again = await harness.command('tell', handle, 'Mind the gap', '--id', 'one');
  expect(again).toMatchObject({ code: 0, out: 'steps.0@1 of told was told this before (one).\n' });
  expect((await harness.state(handle)).told).toEqual([{ id: 'one', key: 'steps.0@1', by: 'ada' }]);
  const piped = await execa(process.execPath, [CLI, 'tell', handle, '-', '--step', 'steps.0@1', '--by', 'bob'], {
    env: { ...harness.env, USER: 'ada' },
    input: 'And the\nstep.',
  });
  expect(piped.stdout).toBe('steps.0@1 of told is told before its next turn.');
  expect((await harness.command('status', handle)).out).toContain(
    'told by bob: And the step. (steps.0@1, before its next turn)',
  );
  letGo('first');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done, with care.' } });
  expect(model.turns).toHaveLength(2);
  expect(model.last.map(({ role, texts }) => `${role} ${texts.join('|')}`)).toEqual([
    'user Look around',
    'assistant ',
    'tool ',
    'user Mind the gap|And the\nstep.',
  ]);
  expect((await harness.events(handle)).filter(({ type }) => type === 'told')).toMatchObject([
    { key: 'steps.0@1', id: 'one', text: 'Mind the gap', by: 'ada' },
    { key: 'steps.0@1', text: 'And the\nstep.', by: 'bob' },
  ]);
  expect((await harness.events(handle)).filter(({ type }) => type === 'heard')).toMatchObject([
    { key: 'steps.0@1', id: 'one', by: 'ada', turn: 2 },
    { key: 'steps.0@1', by: 'bob', turn: 2 },
  ]);
  const transcript = await harness.command('transcript', handle);
  expect(transcript.out).toContain(
    '  user (told by ada)\n    Mind the gap\n  user (told by bob)\n    And the\n    step.\n',
  );
  expect((await harness.command('trace', handle)).out).toContain('» steps.0@1 is told by ada: Mind the gap');
  expect(await harness.command('tell', handle, 'Too late')).toMatchObject({
    code: 1,
    err: expect.stringContaining('told has ended (completed); there is nothing to tell.') as string,
  });
});

test('a model that was about to end has one more turn', async () => {
  const gate = { open: (): void => undefined };
  model.next(
    { ...says('Done.'), after: new Promise<void>((resolve) => (gate.open = resolve)) },
    says('Done, with care.'),
  );
  const handle = await harness.start(once('ending', [{ ...asking, tools: [] }]));
  await until(() => model.turns.length === 1);
  expect(await harness.command('tell', handle, 'Mind the gap')).toMatchObject({ code: 0 });
  gate.open();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done, with care.' } });
  expect(model.last.map(({ role, texts }) => `${role} ${texts.join('|')}`)).toEqual([
    'user Look around',
    'assistant Done.',
    'user Mind the gap',
  ]);
});

test('where nobody can be told it is refused with what to do', async () => {
  const handle = await harness.start(once('busy', [shell('until [ -e go ]; do sleep 0.05; done')]), { handle: 'busy' });
  await until(async () => (await harness.state(handle)).current.length > 0);
  expect(await harness.command('tell', handle, 'Hello?')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'busy is at no model step, so there is nobody to tell; "sentinel status busy" shows',
    ) as string,
  });
  expect(await harness.command('tell', handle, '  ')).toMatchObject({ code: 2 });
  expect(await harness.command('tell', handle, 'x'.repeat(16 * 1024 + 1), '--json')).toMatchObject({
    code: 2,
    out: expect.stringContaining('"code":"TELL_INVALID"') as string,
  });
  expect(await harness.command('tell', 'nobody', 'Hello?')).toMatchObject({ code: 4 });
  letGo('go');
  await harness.result(handle);
});

test('a run that is held takes no turn until it goes on, and is told meanwhile', async () => {
  model.next(waits('held'), says('Done.'));
  const handle = await harness.start(once('held', [asking]));
  await begins('held');
  await harness.say(handle, 'pause');
  letGo('held');
  await harness.untilEvent(
    handle,
    (event) => event.type === 'step-finished' && event.key === 'steps.0@1/turn.1/call.0',
  );
  await sleep(500);
  expect(model.turns).toHaveLength(1);
  expect(await harness.command('tell', handle, 'Before you go on')).toMatchObject({ code: 0 });
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(model.turns).toHaveLength(2);
  expect(model.last.at(-1)).toMatchObject({ role: 'user', texts: ['Before you go on'] });
});

test('turns that follow one another in one activity hear it before the next of them', async () => {
  const gate = { open: (): void => undefined };
  const second = { ...lists('2'), after: new Promise<void>((resolve) => (gate.open = resolve)) };
  model.next(lists('1'), second, lists('3'), says('Done.'));
  const handle = await harness.start(once('agent', [{ ...asking, tools: ['data/list'] }]));
  await until(() => model.turns.length === 2);
  expect(await harness.command('tell', handle, 'Mind the gap')).toMatchObject({ code: 0 });
  // The word to hand back is on its way to the activity.
  await until(async () => (await harness.store.journal.find(handle, 'hand back steps.0@1/turn.1')) !== null);
  gate.open();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(model.turns).toHaveLength(4);
  expect((await harness.events(handle)).filter(({ type }) => type === 'heard')).toMatchObject([{ turn: 3 }]);
  const third = openAiWire.messages(model.turns[2] ?? {});
  expect(third.at(-1)).toMatchObject({ role: 'user', texts: ['Mind the gap'] });
});

test('the model of a nested run is told through the run around it', async () => {
  model.next(waits('inner'), says('Done.'));
  const handle = await harness.start(once('around', [inner('one')]), { handle: 'told-around' });
  await begins('inner');
  const told = await harness.command('tell', handle, 'Mind the gap', '--json');
  expect(JSON.parse(told.out)).toMatchObject({ ok: true, handle: 'told-around/steps.0@1', step: 'steps.0@1' });
  letGo('inner');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(model.last.at(-1)).toMatchObject({ role: 'user', texts: ['Mind the gap'] });

  model.next(waits('left'), waits('right'), says('Done.'), says('Done.'));
  const both = once('several', [{ type: 'parallel', branches: [[inner('left')], [inner('right')]] }]);
  const several = await harness.start(both, { handle: 'several' });
  await begins('left');
  await begins('right');
  expect(await harness.command('tell', several, 'Which?')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'say which one with --step: steps.0.branches.0.0@1/steps.0@1, steps.0.branches.1.0@1/steps.0@1',
    ) as string,
  });
  const step = 'steps.0.branches.1.0@1/steps.0@1';
  expect(await harness.command('tell', several, 'You', '--step', step)).toMatchObject({ code: 0 });
  letGo('left');
  letGo('right');
  await harness.result(several);
});
