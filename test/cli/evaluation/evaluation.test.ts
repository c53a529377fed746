/** Evaluations without a run: the file, the checks, the models, and what is made of the results. */
import { describe, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import { checkRun } from '../../../authoring/evaluation/checks.ts';
import { readEvaluation } from '../../../authoring/evaluation/evaluation-file.ts';
import { percentile, wilson } from '../../../authoring/evaluation/statistics.ts';
import { compare, summarize, type CaseResult } from '../../../authoring/evaluation/summary.ts';
import { comparedLines } from '../../../authoring/evaluation/summary-lines.ts';
import { withModel } from '../../../authoring/evaluation/with-model.ts';
import { PLAIN } from '../../../client/show/paint.ts';

const problemsOf = (value: unknown): string[] => {
  const read = readEvaluation(typeof value === 'string' ? value : JSON.stringify(value));
  return read.ok ? [] : read.problems;
};

describe('the file', () => {
  test('says what is left out', () => {
    const read = readEvaluation(
      JSON.stringify({
        definition: 'review.json',
        checks: ['$answer === "x"'],
        inputs: [
          { input: { a: 1 } },
          { name: 'two', checks: [{ name: 'cheap', check: '$usd < 1' }], outcome: 'failed' },
        ],
      }),
    );
    expect(read).toEqual({
      ok: true,
      evaluation: {
        definition: 'review.json',
        models: [null],
        repeat: 1,
        concurrency: 2,
        replay: null,
        inputs: [
          {
            name: 'input 1',
            input: { a: 1 },
            outcome: 'completed',
            checks: [{ name: '$answer === "x"', check: '$answer === "x"' }],
          },
          {
            name: 'two',
            input: {},
            outcome: 'failed',
            checks: [
              { name: '$answer === "x"', check: '$answer === "x"' },
              { name: 'cheap', check: '$usd < 1' },
            ],
          },
        ],
      },
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /^it is no JSON/],
    ['no inputs', { definition: 'a', inputs: [] }, /^inputs: /],
    ['a word that is not known', { definition: 'a', inputs: [{}], model: 'x' }, /^the file: .*"model"/],
    [
      'a check that cannot be read',
      { definition: 'a', inputs: [{ checks: ['$a ==='] }] },
      /^inputs\[0\]\.checks\[0\]: is no expression/,
    ],
    [
      'a named check that cannot be read',
      { definition: 'a', inputs: [{}], checks: [{ name: 'x', check: '$a ===' }] },
      /^checks\[0\]\.check: is no expression/,
    ],
    [
      'an input that is no object',
      { definition: 'a', inputs: [{ input: [] }] },
      /^inputs\[0\]\.input: must be an object/,
    ],
    [
      'the same name twice',
      { definition: 'a', inputs: [{ name: 'x' }, { name: 'x' }] },
      /^inputs: two of them have the name "x"/,
    ],
    ['the same model twice', { definition: 'a', inputs: [{}], models: ['m', 'm'] }, /^models: "m" stands there twice/],
    [
      'too many runs',
      { definition: 'a', inputs: Array.from({ length: 20 }, () => ({})), repeat: 1000 },
      /make 20000 runs/,
    ],
  ])('%s is said with its place', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([expect.stringMatching(problem)]);
  });

  test('says all that is wrong at once', () => {
    const value = { definition: 'a', inputs: [{ name: 'x', checks: ['$a ==='] }, { name: 'x' }], repeat: 0 };
    expect(problemsOf(value)).toEqual([
      expect.stringMatching(/^inputs\[0\]\.checks\[0\]: is no expression/),
      expect.stringMatching(/^repeat: /),
      expect.stringMatching(/^inputs: two of them have the name "x"/),
    ]);
  });
});

const input = (checks: string[], outcome: 'completed' | 'failed' = 'completed') => ({
  name: 'one',
  input: { wanted: 'x' },
  outcome,
  checks: checks.map((check) => ({ name: check, check })),
});

test('checks see the variables of the run, how it ended, and what it cost', () => {
  const ended = {
    outcome: 'completed',
    outputs: { answer: 'x', list: [1, 2] },
    iterations: 1,
    durationMs: 500,
    failure: null,
    tokens: 110,
    usd: 0.5,
  };
  const passed = [
    '$answer === $input.wanted',
    '$result.answer === "x"',
    '$tokens > 100 && $usd < 1',
    '$outputs.list.length === 2',
  ];
  expect(checkRun(input(passed), ended).map((one) => one.passed)).toEqual([true, true, true, true, true]);
  expect(checkRun(input(['$answer === "y"', '$nothing.there']), ended).map((one) => one.passed)).toEqual([
    true,
    false,
    false,
  ]);
  const [outcome] = checkRun(input([], 'failed'), ended);
  expect(outcome).toEqual({ name: 'outcome', passed: false, fault: 'it ended completed, not failed' });
  const failed = { ...ended, outcome: 'failed', failure: { code: 'X', message: 'it broke' } };
  expect(checkRun(input([]), failed)[0]?.fault).toBe('it ended failed, not completed: it broke');
});

const llm = (model?: string) => ({ type: 'llm' as const, prompt: 'x', ...defined({ model }) });

test("a model takes the place of auto and of nothing, wherever a step asks one, and never of a step's own", () => {
  const definition: Definition = {
    name: 'all',
    loop: { type: 'once' },
    steps: [
      llm(),
      llm('auto'),
      llm('openai/own'),
      { type: 'command', command: 'ai/generate', params: { prompt: 'x' } },
      { type: 'command', command: 'data/list', params: { collection: 'x' } },
      { type: 'condition', check: '$a', then: [llm()], else: [llm()], always: [llm()] },
      { type: 'loop', loop: { type: 'count', max: 1 }, steps: [llm()] },
      { type: 'parallel', branches: [[llm()], [llm('openai/own')]] },
      { type: 'sentinel', definition: { name: 'inner', loop: { type: 'once' }, steps: [llm()] } },
      { type: 'sentinel', definition: { $ref: 'other' } },
    ],
    always: [llm()],
  };
  const text = JSON.stringify(withModel(definition, 'ollama/small'));
  expect(text.split('"ollama/small"')).toHaveLength(11);
  expect(text.split('"openai/own"')).toHaveLength(3);
  expect(text).toContain('"params":{"collection":"x"}');
  expect(text).not.toContain('"auto"');
});

describe('the interval of a rate', () => {
  // Wilson 1927; the values are those that R's prop.test gives without continuity correction.
  test.each([
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [5, 10, 0.2366, 0.7634],
    [9, 10, 0.5958, 0.9821],
    [90, 100, 0.8256, 0.9448],
    [1, 1, 0.2065, 1],
  ])('%d of %d', (passed, cases, low, high) => {
    const found = wilson(passed, cases);
    expect(found.low).toBeCloseTo(low, 4);
    expect(found.high).toBeCloseTo(high, 4);
  });

  test('of nothing is everything', () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

test('percentiles are values that were seen', () => {
  const values = [30, 10, 20, 40];
  expect([0.5, 0.95, 0.25, 0].map((share) => percentile(values, share))).toEqual([20, 40, 10, 10]);
  expect(percentile([], 0.5)).toBe(0);
});

const result = (model: string, name: string, passed: boolean, more: Partial<CaseResult> = {}): CaseResult => ({
  model,
  name,
  repeat: 1,
  handle: `eval-${model}-${name}`,
  outcome: 'completed',
  passed,
  checks: [
    { name: 'outcome', passed: true },
    { name: '$ok', passed },
  ],
  tokens: 100,
  usd: 0.25,
  unpricedTokens: 0,
  durationMs: 1000,
  ...more,
});

test('results are summed by model and check, and models are held against each other', () => {
  const { models, between } = summarize([
    result('a', 'one', true, { durationMs: 3000 }),
    result('a', 'two', false),
    result('b', 'one', false),
    result('b', 'two', true),
  ]);
  expect(models[0]).toMatchObject({
    model: 'a',
    cases: 2,
    passed: 1,
    rate: 0.5,
    tokens: 200,
    usd: 0.5,
    p50Ms: 1000,
    p95Ms: 3000,
  });
  expect(models[0]?.checks).toEqual([
    { name: 'outcome', cases: 2, passed: 2 },
    { name: '$ok', cases: 2, passed: 1 },
  ]);
  expect(between).toEqual([{ one: 'a', other: 'b', onlyOne: ['one'], onlyOther: ['two'] }]);
});

test('two evaluations are compared by the cases that both have', () => {
  const before = [
    result('a', 'one', true),
    result('a', 'two', false),
    result('a', 'gone', true),
    result('a', 'four', false),
  ];
  const now = [
    result('a', 'one', false),
    result('a', 'two', true),
    result('a', 'new', true),
    result('a', 'four', true),
  ];
  const compared = compare(now, { id: 'before', finishedAt: 0, cases: before });
  expect(compared).toEqual({
    id: 'before',
    finishedAt: '1970-01-01T00:00:00.000Z',
    cases: 3,
    nowPassed: [
      { model: 'a', name: 'two', repeat: 1 },
      { model: 'a', name: 'four', repeat: 1 },
    ],
    nowFailed: [{ model: 'a', name: 'one', repeat: 1 }],
  });
  expect(comparedLines(compared, PLAIN)).toEqual([
    'compared with 1970-01-01T00:00:00.000Z (3 cases): +2 passed, 1 now fails',
    '  + two (a), four (a)',
    '  - one (a)',
  ]);
  expect(comparedLines(compare(before, { id: 'x', finishedAt: 0, cases: before }), PLAIN).join()).toContain(
    'no case changed',
  );
  expect(comparedLines(null, PLAIN)).toEqual([]);
});
