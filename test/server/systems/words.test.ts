/** The words of a command's context, as a system of a project says them: to runs, to a model, and to a process of its step. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Json } from '../../../language/json.ts';
import type { Definition, LlmStep, Step } from '../../../language/model.ts';
import type { Policy } from '../../../language/policy/policy.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';
import { CREW, CREW_CONFIG } from './crew-project.ts';

const SECRET = 'v4lue-0f-the-crew';

let harness: Harness;
let model: ModelDouble;
let client: SentinelClient;
beforeAll(async () => {
  process.env['CREW_KEY'] = SECRET;
  model = await new ModelDouble().open();
  harness = await Harness.open();
  writeFileSync(join(harness.project, 'crew.ts'), CREW);
  writeFileSync(join(harness.project, 'sentinel.config.ts'), CREW_CONFIG);
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
  client = new SentinelClient({ env: { ...harness.env, CREW_KEY: SECRET }, startsServices: false });
});
afterAll(async () => {
  delete process.env['CREW_KEY'];
  await client.close();
  await harness.close();
  await model.close();
});
beforeEach(() => {
  model.double.forget();
  model.double.asked.length = 0;
});

let runs = 0;
async function start(steps: Step[], rest: Partial<Definition> = {}): Promise<string> {
  runs += 1;
  const handle = `crew-${runs}`;
  await client.start(once('crew', steps, rest), { handle, project: harness.project, persona: 'ada' });
  return handle;
}

const run = async (steps: Step[], rest: Partial<Definition> = {}) => harness.result(await start(steps, rest));
const crew = (name: string, params: { [name: string]: Json }, rest: Partial<Step> = {}): Step =>
  ({ type: 'command', command: `crew/${name}`, params, outputTo: 'done', ...rest }) as Step;
const failureOf = async (steps: Step[], rest: Partial<Definition> = {}) => (await run(steps, rest)).failure;
const path = (name: string): string => join(harness.project, name);

const waits = (name: string): Step => shell(`until [ -e ${name} ]; do sleep 0.05; done`);
const letGo = (name: string): void => writeFileSync(path(name), '');
const startedBySteps = async (): Promise<string[]> =>
  (await harness.store.runs.list({ startedBy: 'step', limit: 100 })).map(({ handle }) => handle);

/** Nothing is written to the file any more. */
async function isAtRest(name: string): Promise<boolean> {
  const before = readFileSync(path(name), 'utf8');
  await sleep(300);
  return readFileSync(path(name), 'utf8') === before;
}

test('a command starts a run, answers what it asks, waits for its end, starts a process and asks a model', async () => {
  model.next(says('In short: fine.'));
  const handle = await start([crew('review', { topic: 'the docks' })], {
    safety: { budget: { tokens: 10_000, steps: 100 } },
  });
  const { outcome, outputs, failure } = await harness.result(handle);
  expect({ outcome, failure }).toEqual({ outcome: 'completed', failure: undefined });
  const done = outputs['done'] as { [field: string]: Json; handle: string };
  expect(done).toMatchObject({
    question: { kind: 'approval', message: 'How deep?', assignee: 'ada' },
    answered: { choice: 'approve', by: `run ${handle}`, already: false },
    again: { choice: 'approve', already: true },
    standing: { hasEnded: true, outcome: 'completed', questions: [] },
    stdout: 'spawned for the docks\n',
    text: 'In short: fine.',
    model: MODEL,
  });
  expect(done['standing']).toMatchObject({ outputs: { shown: { stdout: 'the docks\n' } } });
  expect(await harness.store.runs.find(done.handle)).toMatchObject({ startedBy: 'step', persona: 'ada' });
  // The answer of the model is the run's to count, though the result of the command does not say what it took.
  const [ended] = (await harness.events(handle)).filter(({ type }) => type === 'step-finished');
  expect(ended).toMatchObject({ usage: { tokens: 110 } });
  expect(model.last.map(({ role, texts }) => `${role} ${texts.join('|')}`)).toEqual([
    'system Be brief.',
    'user Sum up the docks',
  ]);
  const logged = await harness.store.logs.tail(handle, { stream: 'combined', step: 'steps.0@1' }, 100);
  expect(logged.map(({ text }) => text)).toContain('spawned for the docks');
});

test('a model that calls a command has it ask no more than it states', async () => {
  model.next(callsTo('1', 'crew_shells', { what: 'ask' }), says('I may not.'));
  const calling: LlmStep = { type: 'llm', model: MODEL, prompt: 'Go', tools: ['crew/shells'], outputTo: 'said' };
  expect(await run([calling])).toMatchObject({ outputs: { said: 'I may not.' } });
  expect(JSON.stringify(model.turns.at(-1))).toContain('which asks a model: state');
});

test('a command tells the model that is at work in another run something, once, in the name of its run', async () => {
  model.next(
    callsTo('1', 'code_shell_execute', { command: 'touch begun; until [ -e advised ]; do sleep 0.05; done' }),
    says('Advised.'),
  );
  const other = await start([
    { type: 'llm', model: MODEL, prompt: 'Look', tools: ['code/shell/execute'], outputTo: 'said' },
  ]);
  await until(() => existsSync(path('begun')));
  const handle = await start([crew('advise', { handle: other, text: 'Mind the gap' })]);
  expect(await harness.result(handle)).toMatchObject({
    outputs: { done: { handle: other, step: 'steps.0@1', already: false } },
  });
  letGo('advised');
  expect(await harness.result(other)).toMatchObject({ outputs: { said: 'Advised.' } });
  expect((await harness.events(other)).filter(({ type }) => type === 'told')).toMatchObject([
    { text: 'Mind the gap', by: `run ${handle}` },
  ]);
  // It has ended since; told anew, that is said.
  expect(await failureOf([crew('advise', { handle: other, text: 'Again' })])).toMatchObject({ code: 'RUN_ENDED' });
});

test('a command starts no more runs than it states, and each has its part of the budget', async () => {
  const two = await run([crew('many', { count: 2 })], { safety: { budget: { steps: 41 } } });
  const handles = two.outputs['done'] as string[];
  expect(handles).toHaveLength(2);
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const before = await startedBySteps();
  expect(await failureOf([crew('many', { count: 3 })])).toMatchObject({
    code: 'RIGHTS_EXCEEDED',
    message: expect.stringContaining('more than the 2 runs that it states') as string,
  });
  expect((await startedBySteps()).length).toBe(before.length + 2);
});

test('processes run beside each other, into the log of the step, where no secret is shown', async () => {
  const handle = await start([crew('process', { how: 'both', name: 'none', line: 'key: $env.CREW_KEY' })], {
    env: ['CREW_KEY'],
  });
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: {
      done: [
        { exitCode: 0, stdout: 'one\ntwo\n' },
        { exitCode: 3, stdout: '' },
      ],
    },
  });
  const logged = (await harness.store.logs.read(handle, 'combined', 0, 100)).join('\n');
  for (const text of ['one', 'two', 'both have ended', 'key: ']) expect(logged).toContain(text);
  expect(logged).not.toContain(SECRET);
  expect(JSON.stringify(await harness.events(handle))).not.toContain(SECRET);
});

test.each([
  ['abort', { done: 'AbortError' }],
  ['leave', { done: 'left' }],
  ['fails', undefined],
])('a process ends with its signal, and with its command: %s', async (how, outputs) => {
  const { outcome, ...ended } = await run([crew('process', { how, name: `ticks-${how}` })]);
  expect(outcome).toBe(outputs === undefined ? 'failed' : 'completed');
  if (outputs !== undefined) expect(JSON.stringify(ended.outputs)).toMatch(/AbortError|TimeoutError|left/);
  expect(await isAtRest(`ticks-${how}`)).toBe(true);
});

test.each(['cancelled', 'over its time'])(
  'a step that is %s ends its process, and the run that it waits for',
  async (how) => {
    const ticks = `ticks-${how.replaceAll(' ', '-')}`;
    model.next(says('Wait.'));
    const before = await startedBySteps();
    const handle = await start([crew('slow', { name: ticks }, how === 'cancelled' ? {} : { timeoutMs: 4_000 })]);
    await until(() => existsSync(path(ticks)));
    const [started = ''] = (await startedBySteps()).filter((one) => !before.includes(one));
    if (how === 'cancelled') await client.cancel(handle);
    const { outcome, failure } = await harness.result(handle);
    expect({ outcome, code: failure?.code }).toEqual(
      how === 'cancelled' ? { outcome: 'cancelled', code: undefined } : { outcome: 'failed', code: 'STEP_TIMEOUT' },
    );
    expect(await isAtRest(ticks)).toBe(true);
    expect(await harness.result(started)).toMatchObject({ outcome: 'cancelled' });
  },
);

test.each([
  ['quick', 'spawn', 'is quick and calls code/shell/execute, which takes long'],
  ['quick', 'start', 'is quick and calls sentinel/run'],
  ['quick', 'ask', 'is quick and calls ai/generate'],
  ['reads', 'spawn', 'needs the permission "shell", and has "read"'],
  ['reads', 'start', 'needs the permission "shell", and has "read"'],
  ['reads', 'ask', 'which asks a model: state'],
  ['writes', 'spawn', 'needs the permission "shell", and has "write"'],
  ['shells', 'start', 'which starts a run: state "uses: { runs: 1 }"'],
  ['shells', 'ask', 'which asks a model: state'],
  ['shells', 'call ask', 'which asks a model: state'],
])('crew/%s may not: %s', async (name, what, finding) => {
  const before = await startedBySteps();
  expect(await failureOf([crew(name, { what })])).toMatchObject({
    code: 'RIGHTS_EXCEEDED',
    message: expect.stringContaining(finding) as string,
  });
  expect(existsSync(path('acted'))).toBe(false);
  expect(model.turns).toEqual([]);
  expect(await startedBySteps()).toEqual(before);
});

test('to a run that it has not started a command says what its permission covers, and never that it may act', async () => {
  const gate = `gate-${runs}`;
  const other = await start([{ type: 'approval', message: 'Deploy?' }, shell('touch deployed'), waits(gate)]);
  await harness.untilEvent(other, ({ type }) => type === 'asked');
  const question = 'steps.0@1';
  const tried = (name: string, what: string) => failureOf([crew(name, { what, handle: other, question })]);
  const no = { code: 'RIGHTS_EXCEEDED' };
  for (const what of ['stop', 'tell', 'reject']) expect(await tried('reads', what)).toMatchObject(no);
  expect(await tried('shells', 'stop')).toMatchObject(no);
  expect(await tried('writes', 'edit')).toMatchObject(no);
  expect(await tried('writes', 'approve')).toMatchObject({
    ...no,
    message: expect.stringContaining('is for a person, or for the command that has started') as string,
  });
  expect(await tried('reads', 'cancels')).toMatchObject(no);
  expect(await tried('reads', 'itself')).toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  const { outputs } = await run([crew('reads', { what: 'standing', handle: other })]);
  expect(outputs['done']).toMatchObject({ hasEnded: false, questions: [{ id: question, message: 'Deploy?' }] });
  // What a model may not, it may not through a command that calls it, either.
  for (const what of ['tell', 'reject', 'approve']) {
    model.next(callsTo('1', 'crew_writes', { what, handle: other, question }), says('No.'));
    await run([{ type: 'llm', model: MODEL, prompt: 'Go', tools: ['crew/writes'] }]);
    expect(JSON.stringify(model.turns.at(-1))).toMatch(/no model (?:speaks|answers)/);
  }
  expect((await harness.state(other)).questions).toHaveLength(1);
  expect(await run([crew('writes', { what: 'reject', handle: other, question })])).toMatchObject({
    outputs: { done: { choice: 'reject' } },
  });
  expect(await harness.result(other)).toMatchObject({ failure: { code: 'APPROVAL_REJECTED' } });
  expect(existsSync(path('deployed'))).toBe(false);
});

const asking = (step: Step, rest: Partial<Definition>): Step => ({
  type: 'command',
  command: 'sentinel/run',
  params: { definition: once('guarded', [step], rest) as unknown as Json },
  outputTo: 'started',
});

test('an action that waits for approval, and what names somebody, are a person’s to approve', async () => {
  const guarded = asking(shell('touch acted'), { safety: { requireApproval: ['shell'] } });
  const named = asking({ type: 'approval', message: 'Go?', assignee: 'grace' }, {});
  for (const step of [guarded, named]) {
    const { outputs } = await run([step]);
    const { handle } = outputs['started'] as { handle: string };
    await harness.untilEvent(handle, ({ type }) => type === 'asked');
    const [question] = (await harness.state(handle)).questions;
    for (const choice of ['approve', 'extend']) {
      const params = { handle, question: question?.id ?? '', choice };
      expect(await failureOf([{ type: 'command', command: 'sentinel/answer', params }])).toMatchObject({
        code: 'RIGHTS_EXCEEDED',
      });
    }
    await client.cancel(handle);
  }
  expect(existsSync(path('acted'))).toBe(false);
});

test('runs of another project are spoken to by nobody', async () => {
  const other = await harness.start(once('elsewhere', [{ type: 'approval', message: 'Go?' }]), {
    handle: `elsewhere-${runs}`,
    project: await temporaryFolder(),
  });
  await harness.untilEvent(other, ({ type }) => type === 'asked');
  for (const what of ['tell', 'reject'])
    expect(await failureOf([crew('writes', { what, handle: other, question: 'steps.0@1' })])).toMatchObject({
      code: 'RIGHTS_EXCEEDED',
      message: expect.stringContaining('is a run of another project') as string,
    });
});

test('policies see what a command uses, and a run that it starts has them', async () => {
  const policy: Policy = [
    { name: 'no-models', match: { kinds: ['llm'] }, verdict: 'refuse', reason: 'none are asked' },
  ];
  runs += 1;
  const handle = `crew-${runs}`;
  const definition = once('ruled', [crew('review', { topic: 'x' })]);
  await client.start(definition, { handle, project: harness.project, persona: 'ada', policy });
  expect(await harness.result(handle)).toMatchObject({ failure: { code: 'POLICY_REFUSED' } });
  expect(model.turns).toEqual([]);
});
