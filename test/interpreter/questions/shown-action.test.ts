/** What a person sees of a step that asks, or failed: the whole action, as it is done. */
import { expect, test } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import { wishWords } from '../../../interpreter/approval.ts';
import type { Effect } from '../../../interpreter/effect.ts';
import { runScenario } from '../../../interpreter/simulation/run-scenario.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { catalogue } from '../../catalogue.ts';
import { runCase, STRAIGHT } from '../harness/run-case.ts';

const fails = { ok: false, failure: { code: 'BROKEN', message: 'it broke' } };

async function actionsShown(step: Step, answers: object[]): Promise<unknown[]> {
  const definition = {
    name: 'case',
    loop: { type: 'once' as const },
    inputs: { who: 'ada' },
    steps: [step],
    escalateOn: [{ condition: 'error' as const, action: 'pause' as const }],
  };
  const { runs } = await runCase(
    { definition, replies: { 'steps.0@1': [fails, fails, {}] }, answers: { '**': answers } } as Parameters<
      typeof runCase
    >[0],
    STRAIGHT,
  );
  return (runs[0]?.events ?? []).flatMap((event) =>
    event.type === 'asked' ? [(event.question.show as { action: unknown }).action] : [],
  );
}

test('of a failed step its action is shown, with what its references say, and as edited', async () => {
  const shown = await actionsShown({ type: 'shell', command: 'greet', args: ['$who'] }, [
    { choice: 'edit', data: { args: ['bob'] } },
  ]);
  expect(shown).toEqual([
    { type: 'shell', command: 'greet', args: ['ada'], env: {} },
    { type: 'shell', command: 'greet', args: ['bob'], env: {} },
  ]);
  expect(
    await actionsShown({ type: 'command', command: 'data/create', params: { collection: 'c', data: '$who' } }, [
      { choice: 'abort' },
    ]),
  ).toEqual([{ type: 'command', command: 'data/create', params: { collection: 'c', data: 'ada' } }]);
});

test('of a failed step that is no action its type is shown', async () => {
  const nested: Step = { type: 'sentinel', definition: { name: 'child', loop: { type: 'once' }, steps: [] } };
  expect(await actionsShown(nested, [{ choice: 'abort' }])).toEqual([{ type: 'sentinel' }]);
});

const long = `echo ${'a'.repeat(250)}; touch W`;
const inline = { name: 'inner', loop: { type: 'once' }, steps: [{ type: 'shell', command: long }] };

/** What a step asks, and what is done once it is approved. */
async function asked(step: Step): Promise<{ message: string; show: JsonObject; done: JsonObject }> {
  const definition: Definition = {
    name: 'case',
    loop: { type: 'once' },
    inputs: { text: long },
    steps: [step],
    safety: { requireApproval: ['write', 'shell', 'delete', 'network'] },
  };
  const { runs, effects } = await runCase({ definition, answers: { '**': { choice: 'approve' } } }, STRAIGHT);
  const [question] = (runs[0]?.events ?? []).flatMap((event) => (event.type === 'asked' ? [event.question] : []));
  return {
    message: question?.message ?? '',
    show: (question?.show ?? {}) as JsonObject,
    done: effects['steps.0@1'] as JsonObject,
  };
}

const command = (name: string, params: JsonObject): Step => ({ type: 'command', command: name, params });

test.each<[string, Step]>([
  ['a long line', { type: 'shell', command: long }],
  ['a reference in a line', { type: 'shell', command: 'run $text' }],
  ['a name that says something else', { type: 'shell', name: 'echo hello', command: 'rm -rf .' }],
  [
    'arguments, environment, input and folder',
    { type: 'shell', command: 'sh', args: ['-c', '$text'], env: { LD_PRELOAD: '$text' }, stdin: '$text', cwd: 'below' },
  ],
  ['what is larger than a history takes', { type: 'shell', command: 'sh', stdin: 'x'.repeat(40_000) }],
  ['a file and what goes into it', command('code/write', { path: 'a', content: `${'x\n'.repeat(30_000)}touch W` })],
  ['a command line of a command', command('code/shell/execute', { command: long, env: { A: long }, stdin: long })],
  ['an operation', command('code/git', { operation: 'commit', message: long })],
  ['a record', command('data/create', { collection: 'c', data: { deep: { deeper: { deepest: { text: long } } } } })],
  ['a definition', command('sentinel/run', { definition: inline, inputs: { text: long } })],
  ['a pipeline', command('sentinel/start', { type: 'pipeline', steps: [{ type: 'shell', command: long }] })],
  ['an edit', command('sentinel/step/add', { sentinelId: 'x', index: 0, step: { type: 'shell', command: long } })],
])('the whole of an action is asked about, and done: %s', async (_what, step) => {
  const { show, done } = await asked(step);
  const { type, env, library, resolved, ...action } = show['action'] as JsonObject;
  const { inherits, env: given, ...rest } = done;
  expect(type).toBe(step.type);
  expect(action).toEqual(rest);
  // What it comes to, where it is a name for something else.
  expect(resolved !== undefined).toBe(step.type === 'command' && step.command === 'code/git');
  expect(env ?? {}).toEqual(given ?? {});
  expect(library === undefined).toBe(inherits === undefined);
});

test('a message says what is done, whatever the step is called, and of a long one that it is longer', async () => {
  const { message } = await asked({ type: 'shell', name: 'echo hello', command: 'rm', args: ['-rf', '.'] });
  expect(message).toBe('steps.0@1 wants to run: "echo hello", rm -rf .');
  expect((await asked({ type: 'shell', command: long })).message).toMatch(/a… \(264 characters in all\)$/);
});

test.each([
  ['change 3 files', 'change 3 files'],
  ['read\r\nfiles\u2028now', 'read files now'],
  ['read\u202e files\u0007\ud83d', 'read files'],
  [`${'x'.repeat(199)}😀y`, `${'x'.repeat(199)}😀… (201 characters in all)`],
])('what a command says of itself stands beside its permission and its name: %j', (summary, words) => {
  const step = command('files/wipe', {});
  const effect = { type: 'command', command: 'files/wipe', params: {}, resolved: { summary } } as unknown as Effect;
  expect(wishWords('steps.0@1', 'delete', step, effect)).toBe(`steps.0@1 wants to ${words} (delete: files/wipe)`);
  expect(wishWords('steps.0@1', 'shell', step, effect)).toBe(`steps.0@1 wants to ${words} (run: files/wipe)`);
});

test.each([[''], ['\u202e\n'], [7], [null]])('a command that says nothing of itself is named alone: %j', (summary) => {
  const effect = { type: 'command', command: 'files/wipe', params: {}, resolved: { summary } } as unknown as Effect;
  expect(wishWords('steps.0@1', 'delete', command('files/wipe', {}), effect)).toBe(
    'steps.0@1 wants to delete: files/wipe',
  );
});

test('what is asked about a run that is started is the definition as its steps, and what its names mean', async () => {
  const stored: Definition = { name: 'kept', loop: { type: 'once' }, steps: [{ type: 'shell', command: long }] };
  const around = { name: 'outer', loop: { type: 'once' }, steps: [{ type: 'sentinel', definition: { $ref: 'kept' } }] };
  const definition: Definition = {
    name: 'case',
    loop: { type: 'once' },
    steps: [command('sentinel/run', { name: 'kept' }), command('sentinel/run', { definition: around })],
    safety: { requireApproval: ['shell'] },
  };
  const { runs } = await runScenario(
    { definition, catalogue, answers: { '**': { choice: 'approve' } } },
    { stage, stored: (name) => (name === 'kept' ? stored : undefined) },
  );
  const actions = (runs[0]?.events ?? []).flatMap((event) =>
    event.type === 'asked' ? [(event.question.show as JsonObject)['action']] : [],
  );
  expect(actions).toMatchObject([
    { params: { definition: stored }, library: {} },
    { params: { definition: { name: 'outer' } }, library: { kept: stored } },
  ]);
});
