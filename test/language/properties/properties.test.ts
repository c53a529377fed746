/** What must hold for every input: no throw, no hang, the same answer twice, and data that stays data. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tryEvaluate } from '../../../language/expression/evaluate.ts';
import { interpolateValue } from '../../../language/references/interpolation.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { parseDefinition, parseDefinitionText } from '../../../language/read/definition.ts';
import { scopeOf } from '../../../language/expression/scope.ts';
import { renderShellLine } from '../../../language/references/shell-line.ts';
import { randomRuns } from '../../random-runs.ts';
import { catalogue } from '../../catalogue.ts';

const runs = randomRuns(1_000);

const PIECES = [
  '$a',
  '$b.c',
  'x',
  '.map(',
  '.filter(',
  '.replace(',
  ')',
  '(',
  '[',
  ']',
  '{',
  '}',
  '=>',
  '===',
  '+',
  '-',
  '!',
  '&&',
  '??',
  '?',
  ':',
  ',',
  "'t'",
  '"',
  '`',
  '${',
  '1',
  '0.5',
  '.length',
  '["a"]',
  '...',
  'null',
  ' ',
  '{{a}}',
  'Math.max',
  'Object.keys',
  '.constructor',
  '__proto__',
  '$',
  '\\',
];
const source = fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((pieces) => pieces.join(''));
const scope = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'x', '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
) as fc.Arbitrary<JsonObject>;

test('an evaluation never throws, gives JSON or nothing, and gives it again', () => {
  fc.assert(
    fc.property(source, scope, (text, variables) => {
      const first = tryEvaluate(text, scopeOf(variables));
      expect(tryEvaluate(text, scopeOf(variables))).toEqual(first);
      if (first.ok && first.value !== undefined) expect(JSON.parse(JSON.stringify(first.value))).toEqual(first.value);
    }),
    runs,
  );
});

test('a template never throws, and without a reference it is left alone', () => {
  fc.assert(
    fc.property(fc.oneof(source, fc.jsonValue()), scope, (template, variables) => {
      const result = interpolateValue(template as Json, scopeOf(variables));
      expect(interpolateValue(template as Json, scopeOf(variables))).toEqual(result);
      if (!/\$|\{\{/.test(JSON.stringify(template))) expect(result.value).toEqual(template);
    }),
    runs,
  );
});

test('no character of a text value is ever written into a shell line', () => {
  const lines = fc.array(
    fc.constantFrom(
      'echo ',
      '$a',
      '"',
      "'",
      '`',
      '$(',
      ')',
      '((',
      '<<E\n',
      'E\n',
      '#',
      '\\',
      ' ',
      '{{a}}',
      '[[ ',
      '-eq 1 ]]',
      '${',
      '}',
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(lines, (pieces) => {
      const line = `: ${pieces.join('')}`;
      expect(renderShellLine(line, scopeOf({ a: '\u2603hostile' })).line).not.toContain('\u2603');
    }),
    runs,
  );
});

const STEP_KEYS = [
  'type',
  'command',
  'cmd',
  'params',
  'check',
  'if',
  'then',
  'else',
  'steps',
  'branches',
  'loop',
  'mode',
  'max',
  'definition',
  'outputTo',
  'name',
  'event',
  'data',
  'args',
  '$ref',
  'as',
  'over',
  '__proto__',
];
const STEP_VALUES = fc.constantFrom<Json>(
  'shell',
  'command',
  'condition',
  'loop',
  'parallel',
  'sentinel',
  'emit',
  'llm',
  'watch',
  'count',
  'until',
  '$currentFile',
  '$a.b',
  'code/read',
  3,
  -1,
  null,
  true,
  '',
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    STEP_VALUES,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...STEP_KEYS), tie('tree'), { maxKeys: 6 }),
  ),
}));

test('the reader never throws, and what it accepts it accepts again unchanged', () => {
  fc.assert(
    fc.property(tree, tree, (steps, loop) => {
      const result = parseDefinition({ name: 'x', steps, loop }, { catalogue });
      if (result.ok)
        expect(parseDefinition(result.definition, { catalogue })).toMatchObject({
          ok: true,
          definition: result.definition,
        });
      else expect(result.problems.some((problem) => problem.severity === 'error')).toBe(true);
    }),
    runs,
  );
});

test('text is read, or refused at a place inside it', () => {
  const text = fc.array(
    fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', 'true', ' ', '\n', 'x', '"', '-', '1.', '\\', '01'),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(text, (pieces) => {
      const given = pieces.join('');
      const result = parseDefinitionText(given, { catalogue });
      const [problem] = result.problems;
      if (problem?.code !== 'NOT_JSON') return;
      const [, line = '0', column = '0'] = /^line (\d+), column (\d+)/.exec(problem.message) ?? [];
      const row = given.split('\n')[Number(line) - 1] ?? '';
      expect(Number(column) >= 1 && Number(column) <= row.length + 1).toBe(true);
      // Everything before the place is the beginning of some JSON: replacing the rest cannot move it.
      expect(() => void JSON.parse(given)).toThrow();
    }),
    runs,
  );
});
