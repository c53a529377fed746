/**
 * What must hold of every definition in every dialect: written down in any mixture of spellings it reads
 * as the same canonical form, and the canonical form reads as itself.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import type { Definition, LoopConfig, Step, Trigger } from '../../../language/model.ts';
import type { Problem } from '../../../language/problems.ts';
import { parseDefinition, parseDefinitionText } from '../../../language/read/definition.ts';
import { definitionSchema } from '../../../language/schema/definition-schema.ts';
import { randomRuns } from '../../random-runs.ts';
import { catalogue } from '../../catalogue.ts';

const fitsSchema = new Ajv2020({ strict: false }).compile(definitionSchema(catalogue, {}));

const word = fc.constantFrom('plan', 'result', 'files', 'build', 'note');
const maybe = <Value>(key: string, value: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> =>
  fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [key]: given }));
const merged = (...parts: fc.Arbitrary<object>[]): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((found) => Object.assign({}, ...found) as object);

const time = fc.integer({ min: 1, max: 999 }).map((seconds) => seconds * 1_000);
const common = merged(
  maybe('outputTo', word),
  maybe('onError', fc.constantFrom('fail', 'skip', 'retry')),
  maybe('timeoutMs', time),
);
const check = fc.constantFrom(
  '$plan.ok === true',
  '{{named.build.exit_code}} == 0',
  'accuracy > 0.9',
  '$files.length > 3',
);
const data = fc.oneof(
  fc.constantFrom<Json>('$plan', 'text', 3, null, true),
  fc.constant<Json>({ a: ['$plan', { $gte: 0.9 }], b: '{{input.x}}' }),
);

const loop = fc.oneof(
  fc.constant({ type: 'once' }),
  fc.record({
    type: fc.constant('count'),
    max: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('$files.length')),
  }),
  merged(
    fc.record({ type: fc.constantFrom('until', 'while'), check, maxIterations: fc.integer({ min: 1, max: 9 }) }),
    maybe('timeoutMs', time),
  ),
  merged(
    fc.record({ type: fc.constant('continuous'), maxIterations: fc.integer({ min: 1, max: 9 }) }),
    maybe('intervalMs', time),
  ),
) as fc.Arbitrary<LoopConfig>;

const trigger = fc.oneof(
  fc.constantFrom({ type: 'manual' }, { type: 'immediate' }, { type: 'event', event: 'git:push' }),
  fc.constantFrom(
    { type: 'schedule', cronExpression: '0 3 * * 1' },
    { type: 'schedule', cronExpression: '*/5 * * * *', timeZone: 'Europe/Zurich' },
  ),
) as fc.Arbitrary<Trigger>;

const { step, definition } = fc.letrec<{ step: Step; definition: Definition }>((tie) => {
  const steps = fc.array(tie('step'), { minLength: 1, maxLength: 3 });
  const leaf = fc.oneof(
    merged(
      fc.record({ type: fc.constant('shell'), command: fc.constantFrom('npm test', 'ls', 'echo $plan') }),
      maybe('args', fc.constant(['-l'])),
      common,
    ),
    merged(
      fc.record({ type: fc.constant('command'), command: fc.constantFrom('code/read', 'data/list') }),
      maybe('params', fc.constant({ path: '$plan.path', filter: { score: { $gte: 1 } } })),
      common,
    ),
    merged(
      fc.record({ type: fc.constant('llm'), prompt: fc.constantFrom('Do $plan.', '{{steps.0.output}}') }),
      maybe('system', word),
      maybe('temperature', fc.constant(0.3)),
      common,
    ),
    merged(fc.record({ type: fc.constant('emit'), event: word, data }), maybe('name', word)),
    merged(fc.record({ type: fc.constant('watch'), event: fc.constantFrom('build:*', 'done') }), common),
    merged(
      fc.record({ type: fc.constant('set'), values: fc.constant({ sum: '{{a + 1}}', deep: [1, '$plan'] }) }),
      maybe('name', word),
    ),
    merged(fc.record({ type: fc.constant('sleep'), durationMs: time }), common),
    merged(fc.record({ type: fc.constant('fail'), message: word }), maybe('code', fc.constant('NO_MORE'))),
    merged(
      fc.record({ type: fc.constant('approval'), message: word }),
      maybe('onTimeout', fc.constantFrom('reject', 'fail')),
      maybe('remindAfterMs', time),
      common,
    ),
  );
  const block = fc.oneof(
    merged(
      fc.record({ type: fc.constant('condition'), check, then: steps }),
      maybe('else', steps),
      maybe('always', steps),
    ),
    fc.record({ type: fc.constant('loop'), loop, steps }),
    merged(
      fc.record({ type: fc.constant('parallel'), branches: fc.array(steps, { minLength: 1, maxLength: 3 }) }),
      maybe('failFast', fc.boolean()),
    ),
    merged(
      fc.record({ type: fc.constant('sentinel'), definition: tie('definition') }),
      maybe('await', fc.boolean()),
      maybe('outputTo', word),
    ),
  );
  return {
    step: fc.oneof({ maxDepth: 4, depthIdentifier: 'step' }, leaf, block) as fc.Arbitrary<Step>,
    definition: merged(
      fc.record({
        name: word,
        steps,
        loop,
        safety: merged(
          fc.constant({ maxIterations: 5 }),
          maybe('onTimeout', fc.constantFrom('stop', 'pause')),
          maybe('maxStepTimeoutMs', time),
        ),
      }),
      maybe('trigger', trigger),
      maybe('ragSources', fc.constant(['a', 'b'])),
      maybe('mode', fc.constantFrom('full', 'sandboxed')),
    ) as fc.Arbitrary<Definition>,
  };
});

type Plain = Record<string, unknown>;

/** An editor marks a key that is none even where its value is null; the reader takes it as absent. */
const withoutNothing = (written: unknown): unknown =>
  JSON.parse(JSON.stringify(written, (key, value: unknown) => (key === 'retry' && value === null ? undefined : value)));
type Choose = <Choice>(...choices: Choice[]) => Choice;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const snake = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const OTHER_NAMES: Record<string, string[]> = { system: ['systemPrompt', 'system_prompt'] };
const BY_TYPE: Record<string, Record<string, string[]>> = {
  shell: { command: ['cmd'] },
  condition: { check: ['if', 'condition'] },
  emit: { data: ['payload'] },
};

/** The same object in another spelling: keys, capitals, times in seconds, numbers and lists as text. */
function spell(object: Plain, choose: Choose, names: Record<string, string[]> = {}): Plain {
  const spelt: Plain = {};
  for (const [key, value] of Object.entries(object)) {
    const others = [...(names[key] ?? []), ...(OTHER_NAMES[key] ?? [])];
    if (key.endsWith('Ms') && typeof value === 'number') Object.assign(spelt, spellTime(key, value, choose));
    else
      spelt[choose(key, snake(key), ...others)] =
        key === 'onError' || key === 'onTimeout' ? choose(value, capital(String(value))) : value;
  }
  if (choose(true, false)) spelt['retry'] = null;
  return spelt;
}

function spellTime(key: string, value: number, choose: Choose): Plain {
  const stem = key.slice(0, -2);
  return choose<Plain>(
    { [key]: value },
    { [snake(key)]: String(value) },
    { [`${stem}Secs`]: value / 1_000 },
    { [`${snake(stem)}_secs`]: value / 1_000 },
    { [stem]: `${value / 1_000}s` },
  );
}

function spellLoop(config: LoopConfig, choose: Choose): unknown {
  const { type, ...rest } = config as LoopConfig & Plain;
  const inner = spell(rest, choose);
  delete inner['retry'];
  if (type === 'once') return choose<unknown>('once', 'Once', { type: 'Once' }, { type });
  const forms: unknown[] = [
    { type, ...inner },
    { type: capital(type), ...inner },
    { mode: type, ...inner },
    { [capital(type)]: inner },
    JSON.stringify({ type, ...inner }),
  ];
  if (type === 'count') forms.push({ type, count: rest['max'] });
  if (type === 'until' || type === 'while') {
    const { check: condition, ...bounds } = rest;
    forms.push({ [type]: condition, ...bounds }, { type, condition, ...bounds });
  }
  return choose(...forms);
}

function spellStep(value: Step, choose: Choose): unknown {
  const { type, ...rest } = value as Step & Plain;
  const inner: Plain = { ...rest };
  for (const key of ['then', 'else', 'always', 'steps'])
    if (Array.isArray(inner[key])) inner[key] = spellList(inner[key] as Step[], choose);
  if (value.type === 'parallel' && value.branches !== undefined)
    inner['branches'] = value.branches.map((branch) => {
      const spelt = branch.map((item) => spellStep(item, choose));
      return spelt.length === 1 ? choose<unknown>(spelt, spelt[0]) : spelt;
    });
  if (value.type === 'loop') {
    delete inner['loop'];
    const { type: mode, ...config } = value.loop as LoopConfig & Plain;
    if (mode !== 'once' && !Object.hasOwn(config, 'timeoutMs') && choose(true, false))
      Object.assign(inner, { mode, ...config });
    else inner['loop'] = spellLoop(value.loop, choose);
  }
  if (value.type === 'sentinel')
    inner['definition'] = 'name' in value.definition ? spellDefinition(value.definition, choose) : value.definition;
  if (Object.hasOwn(inner, 'params'))
    inner['params'] = choose<unknown>(inner['params'], JSON.stringify(inner['params']));
  const spelt = spell(inner, choose, BY_TYPE[type]);
  if (type === 'parallel' && Object.hasOwn(spelt, 'branches') && choose(true, false)) {
    spelt['steps'] = spelt['branches'];
    delete spelt['branches'];
  }
  return choose<unknown>({ type, ...spelt }, { type: capital(type), ...spelt }, { [capital(type)]: spelt });
}

function spellList(steps: readonly Step[], choose: Choose): unknown {
  const list = steps.map((item) => spellStep(item, choose));
  return choose<unknown>(list, list, JSON.stringify(list), list.length === 1 ? list[0] : { steps: list });
}

function spellTrigger(value: Trigger, choose: Choose): unknown {
  const { type, ...rest } = value as Trigger & Plain;
  const only = Object.values(rest);
  const text = only.length === 0 ? type : only.length === 1 ? String(only[0]) : undefined;
  const forms: unknown[] = [
    value,
    { type: capital(type), ...spell(rest, choose, { cronExpression: ['cron'], timeZone: ['timezone', 'tz'] }) },
  ];
  if (text !== undefined) forms.push(text);
  if (only.length > 0) forms.push({ [capital(type)]: rest });
  return choose(...forms);
}

function spellDefinition(value: Definition, choose: Choose): unknown {
  const { steps, loop: config, trigger: starts, safety, ...rest } = value;
  const spelt: Plain = {
    ...spell(rest, choose),
    steps: spellList(steps, choose),
    ...(config.type === 'once' && choose(true, false) ? {} : { loop: spellLoop(config, choose) }),
    ...(starts === undefined ? {} : { trigger: spellTrigger(starts, choose) }),
    ...choose<Plain>({ safety }, { safety: spell(safety ?? {}, choose) }, spell(safety ?? {}, choose)),
  };
  delete spelt['retry'];
  if (Object.hasOwn(spelt, 'mode')) spelt['mode'] = choose(spelt['mode'], capital(String(spelt['mode'])));
  if (choose(true, false, false))
    Object.assign(spelt, {
      uniqueId: 'u-1',
      version: 3,
      created_by: 'p-1',
      tags: ['a'],
      isPublic: true,
      runCount: 4,
      description: null,
    });
  return choose<unknown>(
    spelt,
    { type: 'sentinel', ...spelt },
    { definition: spelt },
    { definition: JSON.stringify(spelt) },
  );
}

const chooser =
  (g: fc.GeneratorValue): Choose =>
  (...choices) =>
    choices[g(fc.nat, { max: choices.length - 1 })] as (typeof choices)[number];

test('a definition in any mixture of dialects reads as its canonical form', () => {
  fc.assert(
    fc.property(definition, fc.gen(), (canonical, g) => {
      const before = parseDefinition(canonical, { catalogue });
      expect(before.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      const written = spellDefinition(canonical, chooser(g));
      const copy = structuredClone(written);
      const result = parseDefinition(written, { catalogue });
      expect(result.ok ? result.definition : result.problems, JSON.stringify(written)).toEqual(canonical);
      expect(written).toEqual(copy);
      expect(fitsSchema(withoutNothing(written)), JSON.stringify([written, fitsSchema.errors])).toBe(true);
    }),
    randomRuns(600),
  );
});

/** A text has lines, which a value has not. */
const withoutPlaceInText = ({ line: _line, column: _column, source: _source, ...problem }: Problem): Problem => problem;

test('what was read reads as itself, with the same problems and nothing inferred', () => {
  fc.assert(
    fc.property(definition, fc.gen(), (canonical, g) => {
      const first = parseDefinition(spellDefinition(canonical, chooser(g)), { catalogue });
      if (!first.ok) throw new Error('unreachable');
      const second = parseDefinition(first.definition, { catalogue });
      expect(second).toMatchObject({ ok: true, definition: first.definition, inferred: [] });
      expect(second.problems.map(({ code }) => code)).toEqual(first.problems.map(({ code }) => code));
      const asText = parseDefinitionText(JSON.stringify(first.definition), { catalogue });
      expect({ ...asText, problems: asText.problems.map(withoutPlaceInText) }).toEqual(second);
    }),
    randomRuns(300),
  );
});

test('a single step, a list under "pipeline" and a payload read as a definition', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), fc.gen(), (steps, g) => {
      const choose = chooser(g);
      const payload = parseDefinition(
        { type: choose('pipeline', 'Pipeline'), steps: spellList(steps, choose) },
        { catalogue },
      );
      const expected = { steps, loop: { type: 'once' } };
      const errors = payload.problems.filter(({ severity, code }) => severity === 'error' && code !== 'UNBOUNDED_LOOP');
      expect(errors).toEqual([]);
      if (!payload.ok) return;
      expect(payload.definition).toMatchObject(expected);
      expect(parseDefinition(payload.definition, { catalogue })).toMatchObject({
        ok: true,
        definition: payload.definition,
        inferred: [],
      });
    }),
    randomRuns(200),
  );
});

const KEYS = [
  'Shell',
  'Loop',
  'Parallel',
  'Condition',
  'Sentinel',
  'Emit',
  'Event',
  'Count',
  'type',
  'steps',
  'branches',
  'definition',
  'pipeline',
  'loop',
  'trigger',
  'safety',
  'challenges',
  'measure',
  'trainOnFailures',
  'loopUntil',
  'if',
  'while',
  'until',
  'count',
  'over',
  'as',
  'mode',
  'condition',
  'cmd',
  'command',
  'params',
  'filter',
  'timeout_secs',
  'max_iterations',
  'maxIterations',
  'workingDir',
  'retry',
  'provider',
  'model',
  'escalateOn',
  'ragTemplate',
  'parentPersonaId',
  'inheritContext',
  'name',
  '$ref',
  '__proto__',
  'constructor',
  'requireApproval',
];
const VALUES = fc.constantFrom<Json>(
  'Shell',
  'Until',
  'once',
  'pipeline',
  'dojo',
  '[{"cmd":"ls"}]',
  '{"type":"count","max":2}',
  '[{"Shell":',
  '{"a":"[1]"}',
  '$plan.files',
  'accuracy > 0.9',
  '(',
  '* * * * *',
  '30s',
  '7',
  'known',
  '',
  0,
  3,
  -1,
  1e308,
  true,
  false,
  null,
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    VALUES,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 5 }),
  ),
}));

test('whatever is written, reading ends with a definition or with errors, and what it accepts it accepts again', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...KEYS), tree, { maxKeys: 6 }), (written) => {
      const copy = structuredClone(written);
      const result = parseDefinition(written, { catalogue });
      expect(written).toEqual(copy);
      expect(parseDefinition(written, { catalogue })).toEqual(result);
      if (result.ok)
        expect(parseDefinition(result.definition, { catalogue })).toMatchObject({
          ok: true,
          definition: result.definition,
          inferred: [],
        });
      else expect(result.problems.some(({ severity }) => severity === 'error')).toBe(true);
    }),
    randomRuns(3_000),
  );
});
