/**
 * Definitions in the words of their authors. `as-written/`: the reference examples and the Olympics, which
 * read without errors and lack nothing but their `inputs`. `dialects/`: a spelling and its canonical form.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { tryEvaluate } from '../../../language/expression/evaluate.ts';
import type { Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { parseDefinition, parseDefinitionText, type ReadResult } from '../../../language/read/definition.ts';
import { inOrder } from '../../../language/read/key-order.ts';
import { scopeOf } from '../../../language/expression/scope.ts';
import { catalogue } from '../../catalogue.ts';

interface AsWritten {
  definition: Json;
  /** Names the run is given when it starts. */
  inputs?: string[];
  loops?: Array<[string, Json]>;
}

interface Dialect {
  title: string;
  written: Json;
  canonical: Json;
  inferred?: string[];
  persona?: string;
}

const folder = new URL('../../cases/definitions/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const filesOf = (kind: string): string[] => readdirSync(new URL(`${kind}/`, folder));
const NOT_YET: ReadonlySet<string> = new Set(['COMMAND_NOT_BUILT']);

const knownRefs = (name: string): Definition | undefined => {
  const file = filesOf('as-written').find((each) => each.endsWith(`-${name}.json`));
  const found =
    file === undefined
      ? undefined
      : parseDefinition((read(`as-written/${file}`) as AsWritten).definition, { catalogue });
  return found?.ok === true ? found.definition : undefined;
};

describe('definitions as their authors wrote them', () => {
  test.each(filesOf('as-written'))('%s', (file) => {
    const { definition: written, inputs = [], loops = [] } = read(`as-written/${file}`) as AsWritten;
    const result = parseDefinition(written, { catalogue, knownRefs });
    const said = result.problems.filter(({ code }) => !NOT_YET.has(code));
    expect(said.filter(({ code }) => code !== 'UNKNOWN_REFERENCE')).toEqual([]);
    const missing = said.map(({ message }) => /sets "(\w+)"/.exec(message)?.[1]);
    expect(new Set(missing)).toEqual(new Set(inputs));
    if (!result.ok) throw new Error('refused');
    for (const [path, loop] of loops) {
      expect(
        path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], result.definition),
      ).toEqual(loop);
    }
    expect(parseDefinition(result.definition, { catalogue, knownRefs })).toMatchObject({
      ok: true,
      definition: result.definition,
      inferred: [],
    });
  });

  test('every command that they name is built', () => {
    const unbuilt = filesOf('as-written').flatMap((file) =>
      parseDefinition((read(`as-written/${file}`) as AsWritten).definition, { catalogue, knownRefs }).problems.flatMap(
        ({ code, message }) => (code === 'COMMAND_NOT_BUILT' ? [`${file}: ${message}`] : []),
      ),
    );
    expect(unbuilt).toEqual([]);
  });

  test('all 23 of the Olympics and the four reference examples are there', () => {
    const files = filesOf('as-written');
    expect(files.filter((file) => file.startsWith('olympic-'))).toHaveLength(23);
    expect(files.filter((file) => file.startsWith('example-'))).toHaveLength(4);
  });
});

/** A value has no lines. */
const withoutPlaces = (result: ReadResult): ReadResult => ({
  ...result,
  problems: result.problems.map(({ line: _line, column: _column, source: _source, ...problem }) => problem),
});

describe('dialects', () => {
  test.each(filesOf('dialects').map((file) => ({ file, ...(read(`dialects/${file}`) as Dialect) })))(
    '$title ($file)',
    ({ file, written, canonical, inferred, persona }) => {
      const result = parseDefinition(written, { catalogue, knownRefs });
      expect(result.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(result.ok ? result.definition : undefined).toEqual(canonical);
      if (inferred !== undefined) expect(result.inferred).toEqual(inferred);
      if (persona !== undefined) expect(result).toMatchObject({ persona });
      expect(parseDefinition(canonical, { catalogue, knownRefs })).toMatchObject({
        ok: true,
        definition: canonical,
        inferred: [],
      });
      expect(withoutPlaces(parseDefinitionText(JSON.stringify(written), { catalogue, knownRefs }))).toEqual(result);
      expect((read(`dialects/${file}`) as Dialect).written).toEqual(written);
    },
  );
});

test('a run that is started can read what it is handed', () => {
  const { canonical } = read('dialects/run-parameters.json') as {
    canonical: { steps: { params: { definition?: Json } }[] };
  };
  const handed = canonical.steps.flatMap(({ params: { definition } }) =>
    definition === undefined ? [] : [definition],
  );
  expect(handed.length).toBeGreaterThan(5);
  for (const definition of handed)
    expect(parseDefinition(definition, { catalogue }).problems.filter(({ severity }) => severity === 'error')).toEqual(
      [],
    );
});

const shell = (extra: object): object => ({ cmd: 'ls', ...extra });

describe("problems stand at the author's own place", () => {
  test.each<[string, Json | object, string, string]>([
    ['a tag', { name: 'n', steps: [{ Shell: { cmd: 'ls', colour: 1 } }] }, 'UNKNOWN_KEY', 'steps.0.Shell.colour'],
    [
      'a tag inside a tag',
      { name: 'n', steps: [{ Condition: { if: 'true', then: [{ Emit: { payload: 1 } }] } }] },
      'MISSING_KEY',
      'steps.0.Condition.then.0.event',
    ],
    ['a check', { name: 'n', steps: [{ if: '(', then: [shell({})] }] }, 'BAD_EXPRESSION', 'steps.0.if'],
    [
      "a loop's kind",
      { name: 'n', steps: [{ until: '(', maxIterations: 2, steps: [shell({})] }] },
      'BAD_EXPRESSION',
      'steps.0.until',
    ],
    [
      'a payload',
      { definition: { name: 'n', steps: [shell({ output: 'x' })] } },
      'UNKNOWN_KEY',
      'definition.steps.0.output',
    ],
    [
      'JSON text',
      { name: 'n', steps: JSON.stringify([shell({ retry: { attempts: 0 } })]) },
      'OUT_OF_RANGE',
      'steps.0.retry.attempts',
    ],
    [
      'a branch',
      { name: 'n', steps: [{ type: 'Parallel', steps: [shell({}), [shell({ nmae: 'x' })]] }] },
      'UNKNOWN_KEY',
      'steps.0.steps.1.0.nmae',
    ],
    [
      'a nested pipeline',
      { name: 'n', steps: [{ type: 'sentinel', pipeline: { steps: [shell({ timeoutSecs: -1 })] } }] },
      'OUT_OF_RANGE',
      'steps.0.pipeline.steps.0.timeoutSecs',
    ],
    [
      'a bound beside the steps',
      { name: 'n', steps: [shell({})], max_iterations: 0 },
      'OUT_OF_RANGE',
      'max_iterations',
    ],
    [
      'a bound inside',
      { name: 'n', steps: [shell({})], safety: { max_iterations: 0 } },
      'OUT_OF_RANGE',
      'safety.max_iterations',
    ],
    ['a trigger', { name: 'n', steps: [shell({})], trigger: { cron: 'x' } }, 'BAD_CRON', 'trigger.cron'],
    ['a trigger as text', { name: 'n', steps: [shell({})], trigger: '99 * * * *' }, 'BAD_CRON', 'trigger'],
    ['a single step', { cmd: 'ls', agrs: [] }, 'UNKNOWN_KEY', 'agrs'],
    [
      'a guard',
      { name: 'n', steps: [{ command: 'code/read', condition: '(' }] },
      'BAD_EXPRESSION',
      'steps.0.condition',
    ],
    ["a dojo's condition", { challenges: ['a'], loopUntil: '(' }, 'BAD_EXPRESSION', 'loopUntil'],
    [
      'two spellings',
      { name: 'n', steps: [shell({ output_to: 'a', outputTo: 'b' })] },
      'CONFLICTING_KEYS',
      'steps.0.output_to',
    ],
    [
      'two kinds of loop',
      { name: 'n', steps: [shell({})], loop: { type: 'count', max: 2, until: 'x' } },
      'CONFLICTING_KEYS',
      'loop.until',
    ],
    [
      'two bounds',
      { name: 'n', steps: [shell({})], maxIterations: 2, safety: { maxIterations: 3 } },
      'CONFLICTING_KEYS',
      'maxIterations',
    ],
  ])('%s', (_what, written, code, path) => {
    const found = parseDefinition(written, { catalogue })
      .problems.filter(({ severity }) => severity === 'error')
      .map((problem) => `${problem.code} ${problem.path}`);
    expect(found).toEqual([`${code} ${path}`]);
  });
});

test('what a value calls itself is never called', () => {
  const hostile = { constructor: { name: { toString: 1 } } };
  for (const written of [
    { loop: hostile },
    { safety: { maxIterations: hostile } },
    { steps: [{ type: 'shell', command: hostile }] },
    { trigger: hostile },
  ]) {
    expect(parseDefinition({ name: 'n', steps: [{ cmd: 'ls' }], ...written }, { catalogue }).ok).toBe(false);
  }
});

test('JSON text does not carry past the bounds what a definition may not hold', () => {
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  expect(parseDefinition({ name: 'n', steps: deep }, { catalogue }).problems.map(({ code }) => code)).toContain(
    'TOO_DEEP',
  );
  let text = JSON.stringify([{ cmd: 'ls' }]);
  for (let depth = 0; depth < 12; depth += 1)
    text = JSON.stringify([{ if: 'true', then: JSON.parse(text) as Json, else: depth % 3 === 0 ? text : [] }]);
  expect(() => parseDefinition({ name: 'n', steps: text }, { catalogue })).not.toThrow();
});

describe("the word of a dojo's condition", () => {
  const { definition } = parseDefinition(
    {
      challenges: Array.from({ length: 20 }, (_, index) => ({ input: String(index) })),
      loopUntil: 'accuracy > 0.9',
    },
    { catalogue },
  ) as { definition: Definition };
  const check = 'check' in definition.loop ? definition.loop.check : '';
  const challenges = definition.inputs?.['challenges'] ?? null;

  test.each([
    [0, true],
    [1, true],
    [2, false],
    [20, false],
  ])('with %i failures of 20 it is %s', (failureCount, holds) => {
    expect(tryEvaluate(check, scopeOf({ challenges, challengeResults: { failureCount } }))).toMatchObject({
      ok: true,
      value: holds,
    });
  });
});

describe('the order of keys', () => {
  test('is one and the same, and changes nothing but the order', () => {
    for (const file of filesOf('as-written')) {
      const result = parseDefinition((read(`as-written/${file}`) as AsWritten).definition, { catalogue, knownRefs });
      if (!result.ok) throw new Error(`${file} is refused`);
      const ordered = inOrder(result.definition);
      expect(ordered).toEqual(result.definition);
      expect(JSON.stringify(inOrder(ordered))).toBe(JSON.stringify(ordered));
      expect(Object.keys(ordered).at(0)).toBe('name');
    }
  });

  test("leaves the author's own values alone", () => {
    const step = {
      type: 'command' as const,
      params: { z: 1, command: 'x', a: { type: 't', name: 'n' } },
      command: 'data/create',
    };
    const ordered = inOrder({ loop: { type: 'once' }, steps: [step], name: 'n' });
    expect(JSON.stringify(ordered)).toBe(
      '{"name":"n","steps":[{"type":"command","command":"data/create","params":{"z":1,"command":"x","a":{"type":"t","name":"n"}}}],"loop":{"type":"once"}}',
    );
  });
});

describe('docs/language/dialects.md', () => {
  const page = readFileSync(new URL('../../../docs/language/dialects.md', import.meta.url), 'utf8');
  const examples = Array.from(page.matchAll(/```json\n([\s\S]*?)```/g), ([, text = '']) => text);

  test.each(examples.map((text, index) => [index + 1, text] as const))('example %i is read', (_index, text) => {
    const result = parseDefinitionText(text, { catalogue, knownRefs });
    expect(result.problems.filter(({ code }) => !NOT_YET.has(code) && code !== 'STUCK_LOOP')).toEqual([]);
  });

  test('has an example of each dialect', () => {
    expect(examples).toHaveLength(6);
  });
});
