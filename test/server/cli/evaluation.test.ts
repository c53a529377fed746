/** `sentinel eval`, as a process: six inputs and two models at the wire, what is said of them, and going on. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { EvaluationOutcome } from '../../../authoring/evaluation/run-evaluation.ts';
import { once } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';
import { answers } from '../harness/models/model-runs.ts';
import { ModelDouble } from '../harness/models/model-double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';

let harness: Harness;
let model: ModelDouble;
/** What the models know, by input; the rest they get wrong. */
const knows: { [model: string]: string[] } = { big: ['1', '2', '3', '4', '5'], small: ['1', '2', '6'] };
let silentMs = 0;
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  model.double.answer(wire.path, (body) => {
    const [, number = ''] = /number (\d)/.exec(JSON.stringify(body)) ?? [];
    const known = knows[typeof body['model'] === 'string' ? body['model'] : ''] ?? [];
    return { ...answers(known.includes(number) ? `it is ${number}` : 'no idea'), silentMs };
  });
  harness.variables = model.env;
  await harness.startWorker();
  writeFileSync(
    join(harness.project, 'ask.json'),
    JSON.stringify(once('ask', [{ type: 'llm', prompt: 'What is number $number?', outputTo: 'answer' }])),
  );
  writeFileSync(join(harness.project, 'ask.eval.json'), JSON.stringify(evaluation));
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const evaluation = {
  definition: './ask.json',
  models: ['openai/big', 'openai/small'],
  concurrency: 4,
  checks: [{ name: 'right', check: '$answer === "it is " + $input.number' }],
  inputs: ['1', '2', '3', '4', '5', '6'].map((number) => ({ name: `number ${number}`, input: { number } })),
};

async function evaluate(
  ...args: string[]
): Promise<{ code: number; err: string; outcome: EvaluationOutcome & { ok: boolean } }> {
  const { code, out, err } = await harness.command('eval', ...args, '--json');
  return { code, err, outcome: JSON.parse(out) as EvaluationOutcome & { ok: boolean } };
}

const asked = (): number => model.turns.length;

test('six inputs are run with two models, summed, and compared with the last time', async () => {
  const { code, err, outcome } = await evaluate('ask.eval.json');
  expect(code, err).toBe(1);
  expect(outcome).toMatchObject({ ok: false, isResumed: false, compared: null });
  expect(outcome.models).toMatchObject([
    {
      model: 'openai/big',
      cases: 6,
      passed: 5,
      checks: [
        { name: 'outcome', passed: 6 },
        { name: 'right', passed: 5 },
      ],
    },
    { model: 'openai/small', cases: 6, passed: 3 },
  ]);
  expect(outcome.models[0]?.low).toBeCloseTo(0.4365, 3);
  expect(outcome.between).toEqual([
    {
      one: 'openai/big',
      other: 'openai/small',
      onlyOne: ['number 3', 'number 4', 'number 5'],
      onlyOther: ['number 6'],
    },
  ]);
  expect(outcome.models.every(({ tokens, p50Ms, p95Ms }) => tokens > 0 && p50Ms > 0 && p95Ms >= p50Ms)).toBe(true);
  expect(asked()).toBe(12);

  knows['big'] = ['1', '2', '3', '4', '6'];
  const { code: enough, out } = await harness.command(
    'eval',
    'ask.eval.json',
    '--model',
    'openai/big',
    '--min-pass',
    '0.8',
  );
  expect(enough).toBe(0);
  expect(out).toContain('5/6');
  expect(out).toContain('83.3 %');
  expect(out).toContain('+1 passed, 1 now fails');
  expect(out).toContain('+ number 6 (openai/big)');
  expect(out).toContain('- number 5 (openai/big)');
});

test('one that is interrupted goes on: what has run is not run again', async () => {
  silentMs = 1500;
  const before = asked();
  const child = spawn(process.execPath, [CLI, 'eval', 'ask.eval.json', '--concurrency', '2'], {
    cwd: harness.project,
    env: { ...process.env, ...harness.env, USER: 'ada' },
    stdio: 'ignore',
  });
  await until(() => asked() - before >= 3);
  child.kill('SIGKILL');
  silentMs = 0;
  const { err, outcome } = await evaluate('ask.eval.json');
  expect(err).toContain('which was interrupted, goes on');
  expect(outcome.isResumed).toBe(true);
  expect(outcome.cases).toHaveLength(12);
  expect(asked() - before).toBe(12);
  expect((await evaluate('ask.eval.json', '--fresh')).outcome.isResumed).toBe(false);
});

const passed = ({ outcome }: { outcome: EvaluationOutcome }): unknown =>
  outcome.cases.map(({ name, model: one, passed: is }) => [name, one, is]);

test('it is recorded and replayed without a model', async () => {
  const recorded = await evaluate('ask.eval.json', '--record', 'ask.cassette.json');
  const before = asked();
  const replayed = await evaluate('ask.eval.json', '--replay', 'ask.cassette.json');
  expect(asked()).toBe(before);
  expect(passed(replayed)).toEqual(passed(recorded));
  expect(replayed.outcome.compared).toMatchObject({ nowPassed: [], nowFailed: [], cases: 12 });
});

test('a run that asks somebody is cancelled, and its case has failed', async () => {
  writeFileSync(
    join(harness.project, 'asks.json'),
    JSON.stringify(once('asks', [{ type: 'approval', message: 'Go on?' }])),
  );
  const file = { definition: './asks.json', inputs: [{ name: 'only' }] };
  writeFileSync(join(harness.project, 'asks.eval.json'), JSON.stringify(file));
  const { code, outcome } = await evaluate('asks.eval.json');
  expect(code).toBe(1);
  expect(outcome.cases[0]?.checks[0]?.fault).toContain('it waits for an answer');
  const { handle } = outcome.cases[0] ?? { handle: '' };
  await until(async () => (await harness.store.runs.find(handle))?.outcome === 'cancelled');
});

test('what is wrong is said with its place, and nothing starts', async () => {
  const refused = async (file: JsonObject | string, ...args: string[]): Promise<string> => {
    writeFileSync(join(harness.project, 'wrong.eval.json'), typeof file === 'string' ? file : JSON.stringify(file));
    const { code, out, err } = await harness.command('eval', 'wrong.eval.json', ...args);
    expect({ code, out }, err).toEqual({ code: 2, out: '' });
    return err;
  };
  expect(await refused('{')).toContain('it is no JSON');
  expect(await refused({ definition: './ask.json', inputs: [{ checks: ['$a ==='] }] })).toContain(
    'inputs[0].checks[0]: is no expression',
  );
  expect(await refused({ definition: './nothing.json', inputs: [{}] })).toContain('nothing.json');
  expect(await refused({ definition: './ask.json', inputs: [{}] }, '--min-pass', '90')).toContain('--min-pass is "90"');
  expect((await harness.command('eval', 'no-such-file.json')).code).toBe(2);
});
