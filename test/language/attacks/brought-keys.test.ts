/**
 * What a definition may say that a model brings: every key that there is, in each of its uses. A key of the schema
 * without a row, or a row without a key, falls here, and so does a key that nobody tried.
 */
import type * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { beyondTools, DEFINITION, SAFETY, STEPS } from '../../../language/rights/brought-program.ts';
import { Definition, Safety, Step } from '../../../language/model.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';

const TOOLS = ['code/read', 'data/list', 'sentinel/run'];
const read: JsonObject = { type: 'command', command: 'code/read', params: { path: 'src/app.js' } };
const shell: JsonObject = { type: 'shell', command: 'id' };
const inner = (step: JsonObject): JsonObject => ({ name: 'inner', loop: { type: 'once' }, steps: [step] });

function judged(said: JsonObject, tools: readonly string[] = TOOLS): string | null {
  const parsed = parseDefinition(
    { name: 'brought', loop: { type: 'once' }, steps: [read], ...said },
    { catalogue, knownRefs: () => undefined },
  );
  const errors = parsed.problems.filter(({ severity, code }) => severity === 'error' && code !== 'UNKNOWN_DEFINITION');
  expect(errors).toEqual([]);
  const { definition } = parsed as { definition?: Definition };
  // One whose reference leads nowhere has an error, and is judged as it would be with the other definition there.
  return beyondTools(
    definition ?? ({ name: 'brought', loop: { type: 'once' }, steps: [read], ...said } as unknown as Definition),
    catalogue,
    tools,
  );
}

interface Uses {
  fine: readonly Json[];
  beyond?: readonly Json[];
}

const OF_DEFINITION: { [Key in keyof Required<Definition>]: Uses } = {
  $schema: { fine: ['./sentinel.schema.json'] },
  id: { fine: ['gate'] },
  name: { fine: ['gate'] },
  description: { fine: ['says what it is'] },
  recipe: { fine: [], beyond: ['coding'] },
  ragSources: { fine: [[]], beyond: [['src/**']] },
  tools: { fine: [['code/read', 'code/shell/execute']] },
  steps: {
    fine: [[read]],
    beyond: [[shell], [{ ...read, command: 'code/write', params: { path: 'a', content: 'b' } }]],
  },
  always: { fine: [[read]], beyond: [[shell]] },
  loop: {
    fine: [{ type: 'once' }, { type: 'count', max: 3 }, { type: 'continuous', max: 2 }],
    beyond: [{ type: 'event', event: 'chat:ops:message', max: 2 }],
  },
  trigger: {
    fine: [{ type: 'immediate' }, { type: 'manual' }],
    beyond: [
      { type: 'event', event: 'sentinel:**' },
      { type: 'schedule', cronExpression: '* * * * *' },
    ],
  },
  concurrency: {
    fine: [],
    beyond: [
      { group: 'deploy', onConflict: 'cancel' },
      { group: 'deploy', onConflict: 'queue' },
      { group: 'deploy', onConflict: 'skip' },
    ],
  },
  timeoutMs: { fine: [1000] },
  safety: { fine: [{}], beyond: [{ allowFiles: ['.env'] }] },
  mode: { fine: ['full', 'sandboxed', 'readonly'] },
  durability: { fine: ['step', 'segment'] },
  escalateOn: {
    fine: [[]],
    beyond: (['error', 'timeout', 'unfamiliar', 'approval_needed', 'complete'] as const).flatMap((condition) =>
      ['pause', 'notify', 'abort'].map((action): Json => [{ condition, action }]),
    ),
  },
  reportTo: { fine: ['inbox'], beyond: ['silent'] },
  env: { fine: [[]], beyond: [['HOME']] },
  trustDrafts: { fine: [false], beyond: [true] },
  strict: { fine: [true, false] },
  defaults: { fine: [{ shell: { failOn: 'nonzero' } }] },
  inputs: { fine: [{ a: 1 }] },
  inputSchema: { fine: [{ type: 'object', properties: { a: { type: 'number' } } }] },
  outputs: { fine: [{ a: 1 }] },
};

const OF_SAFETY: { [Key in keyof Required<Safety>]: Uses } = {
  maxIterations: { fine: [3] },
  timeoutMs: { fine: [1000] },
  maxStepTimeoutMs: { fine: [1000] },
  maxMemoryMb: { fine: [100] },
  maxNestingDepth: { fine: [100] },
  onTimeout: { fine: ['stop'], beyond: ['pause'] },
  requireApproval: { fine: [[], ['write', 'shell', 'delete', 'network']] },
  allowFiles: { fine: [[]], beyond: [['.env'], ['notes/a.md']] },
  budget: { fine: [{ steps: 1_000_000, tokens: 1_000_000_000 }] },
};

const COMMON: { [key: string]: Uses } = {
  type: { fine: [] },
  name: { fine: ['step'] },
  onError: { fine: ['fail', 'skip', 'retry'] },
  retry: { fine: [{ attempts: 2 }] },
  timeoutMs: { fine: [1000] },
};
const GIVING: { [key: string]: Uses } = { ...COMMON, outputTo: { fine: ['given'] } };
const free = (...fine: Json[]): Uses => ({ fine });

/** A step that is fine as it stands, and its keys. */
const OF_STEPS: {
  [Type in Step['type']]: { step: JsonObject; tools?: readonly string[]; keys: { [key: string]: Uses } };
} = {
  shell: {
    step: { type: 'shell', command: 'id' },
    tools: ['code/shell/execute'],
    keys: {
      ...GIVING,
      command: free('ls'),
      args: free(['-l']),
      cwd: free('src'),
      env: free({ A: '1' }),
      stdin: free('in'),
      failOn: free('never', 'nonzero'),
      onUnknown: { fine: ['ask', 'skip'], beyond: ['retry', { verify: 'code/shell/execute' }] },
    },
  },
  command: {
    step: read,
    keys: {
      ...GIVING,
      command: { fine: ['code/read'], beyond: ['code/shell/execute', 'code/verify'] },
      params: { fine: [{ path: 'src/a.js' }], beyond: [{ path: '.env' }] },
      failOn: free(),
    },
  },
  llm: {
    step: { type: 'llm', prompt: 'x', model: 'openai/some-model', tools: [] },
    keys: {
      ...GIVING,
      prompt: free('y'),
      system: free('z'),
      messages: free([{ role: 'user', content: 'x' }]),
      images: { fine: [['a.png']], beyond: [['keys/server.pem']] },
      model: free('openai/other'),
      temperature: free(1),
      maxTokens: free(10),
      maxTurns: free(3),
      thinking: free('low'),
      tools: { fine: [[], ['code/read']], beyond: [['code/write'], ['code/read', 'code/shell/execute']] },
      parseToolCalls: free(true, false),
      onUnknown: { fine: ['ask', 'skip'], beyond: ['retry', { verify: 'code/read', params: { path: 'nowhere' } }] },
      schema: free({ type: 'object' }),
      autoCompact: free(false, { threshold: 0.5 }),
      stopWhen: free('true'),
      onStuck: { fine: ['escalate', 'answer', 'fail'], beyond: ['ignore'] },
      unchangedTurns: free(3),
    },
  },
  watch: {
    step: { type: 'watch', executionId: 'e' },
    keys: {
      ...GIVING,
      executionId: free('other'),
      rules: free([{ pattern: 'ready', classification: 'up' }]),
      until: free('finished', 'error'),
      event: { fine: [] },
    },
  },
  emit: {
    step: { type: 'emit', event: 'a' },
    keys: Object.fromEntries([...Object.keys(GIVING), 'event', 'data'].map((key) => [key, free()])),
  },
  sentinel: {
    step: { type: 'sentinel', definition: inner(read) },
    keys: {
      ...GIVING,
      definition: {
        fine: [inner(read), { $ref: 'kept-by-a-person' }],
        beyond: [
          inner(shell),
          { ...inner(read), escalateOn: [{ condition: 'approval_needed', action: 'notify' }] },
          { ...inner(read), concurrency: { group: 'g', onConflict: 'cancel' } },
          { $ref: '$later' },
          { $ref: '{{later}}' },
        ],
      },
      await: free(true, false),
      inputs: free({ a: 1 }),
    },
  },
  approval: {
    step: { type: 'approval', message: 'Go on?' },
    keys: {
      ...GIVING,
      message: free('Well?'),
      show: free({ a: 1 }),
      form: free({ type: 'object' }),
      assignee: { fine: [], beyond: ['boss'] },
      approvers: { fine: [], beyond: [{ of: ['boss'], atLeast: 1 }] },
      onTimeout: { fine: ['reject', 'fail'], beyond: ['approve'] },
      remindAfterMs: free(5_000),
    },
  },
  fail: { step: { type: 'fail', message: 'no' }, keys: { ...COMMON, message: free('never'), code: free('MINE') } },
  set: { step: { type: 'set', values: { a: 1 } }, keys: { ...COMMON, values: free({ b: 2 }) } },
  sleep: {
    step: { type: 'sleep', durationMs: 1 },
    keys: { ...GIVING, durationMs: free(10), until: free() },
  },
  join: { step: { type: 'join', handles: ['run-1'] }, keys: { ...GIVING, handles: free(['run-2']) } },
  condition: {
    step: { type: 'condition', check: 'true', then: [read] },
    keys: {
      ...COMMON,
      check: free('false'),
      then: { fine: [[read]], beyond: [[shell]] },
      else: { fine: [[read]], beyond: [[shell]] },
      always: { fine: [[read]], beyond: [[shell], [{ type: 'emit', event: 'a' }]] },
    },
  },
  loop: {
    step: { type: 'loop', loop: { type: 'count', max: 2 }, steps: [read] },
    keys: {
      ...GIVING,
      loop: { fine: [{ type: 'count', max: 1 }], beyond: [{ type: 'event', event: 'chat:ops:message', max: 1 }] },
      steps: { fine: [[read]], beyond: [[shell]] },
    },
  },
  parallel: {
    step: { type: 'parallel', branches: [[read]] },
    keys: {
      ...GIVING,
      branches: { fine: [[[read], [read]]], beyond: [[[read], [shell]]] },
      failFast: free(true),
      over: free(),
      as: free(),
      steps: free(),
      itemErrors: free(),
      maxConcurrency: free(),
    },
  },
};

const keysOf = (rows: object): string[] => Object.keys(rows).toSorted();
const shapeOf = (schema: z.ZodType): string[] => keysOf((schema as unknown as { shape: object }).shape);

test('every key of the schema has a row, and every row a key and its uses', () => {
  expect(keysOf(DEFINITION)).toEqual(shapeOf(Definition));
  expect(keysOf(OF_DEFINITION)).toEqual(shapeOf(Definition));
  expect(keysOf(SAFETY)).toEqual(shapeOf(Safety));
  expect(keysOf(OF_SAFETY)).toEqual(shapeOf(Safety));
  const { options } = Step as unknown as { options: z.ZodType[] };
  const types = options.map(
    (option) => (option as unknown as { shape: { type: { value: Step['type'] } } }).shape.type.value,
  );
  expect(types.toSorted()).toEqual(keysOf(STEPS));
  for (const [index, type] of types.entries()) {
    expect([type, keysOf(STEPS[type])]).toEqual([type, shapeOf(options[index] as z.ZodType)]);
    expect([type, keysOf(OF_STEPS[type].keys)]).toEqual([type, shapeOf(options[index] as z.ZodType)]);
  }
});

test('a key that the format does not have is refused, whatever it says', () => {
  const odd = { name: 'brought', loop: { type: 'once' }, steps: [], grants: ['everything'] } as unknown as Definition;
  expect(beyondTools(odd, catalogue, TOOLS)).toBe('it says "grants"');
});

describe('a definition', () => {
  test.each(Object.entries(OF_DEFINITION))('%s', (key, { fine, beyond = [] }) => {
    for (const value of fine) expect([value, judged({ [key]: value })]).toEqual([value, null]);
    for (const value of beyond) expect([value, judged({ [key]: value })]).toEqual([value, expect.any(String)]);
  });
  test.each(Object.entries(OF_SAFETY))('safety.%s', (key, { fine, beyond = [] }) => {
    for (const value of fine) expect([value, judged({ safety: { [key]: value } })]).toEqual([value, null]);
    for (const value of beyond)
      expect([value, judged({ safety: { [key]: value } })]).toEqual([value, expect.any(String)]);
  });
});

describe.each(Object.entries(OF_STEPS))('a step of type %s', (type, { step, tools = TOOLS, keys }) => {
  test('as it stands', () => {
    const outcome = type === 'emit' ? expect.any(String) : null;
    expect(judged({ steps: [step] }, tools)).toEqual(outcome);
    expect(judged({ steps: [{ type: 'sentinel', definition: inner(step) }] }, tools)).toEqual(outcome);
  });
  test.each(Object.entries(keys))('%s', (key, { fine, beyond = [] }) => {
    for (const value of fine)
      expect([value, judged({ steps: [{ ...step, [key]: value }] }, tools)]).toEqual([value, null]);
    for (const value of beyond)
      expect([value, judged({ steps: [{ ...step, [key]: value }] }, tools)]).toEqual([value, expect.any(String)]);
  });
});

test.each<[string, JsonObject]>([
  ['a shell without one', shell],
  ['a watch of an event', { type: 'watch', event: 'chat:ops:message' }],
  ['an event', { type: 'emit', event: 'deploy:approved' }],
  ['a model with what the catalogue gives it', { type: 'llm', model: 'openai/m', prompt: 'x', parseToolCalls: true }],
  ['a list that runs a shell for each item', { type: 'parallel', over: '[1]', as: 'n', steps: [shell] }],
])('%s is refused', (_name, step) => {
  expect(judged({ steps: [step] })).toEqual(expect.any(String));
});
