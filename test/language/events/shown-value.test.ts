/** What people are shown of a value: all of it, and of no two values the same. */
import { assert, constantFrom, json, jsonValue, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownBriefly, valueLines } from '../../../language/events/shown-value.ts';
import type { Json } from '../../../language/json.ts';
import { randomRuns } from '../../random-runs.ts';

test.each<[string, Json, string[]]>([
  ['a line', 'npm publish --tag next', ['npm publish --tag next']],
  [
    'what could be something else',
    ['true', '1.5', '', ' a', 'a ', '- a', 'a: b', '"a"', '| a', '[]'],
    ['- | true', '- | 1.5', '- | ', '- |  a', '- | a ', '- | - a', '- | a: b', '- | "a"', '- | | a', '- | []'],
  ],
  ['and what is', [true, 1.5, null, [], {}], ['- true', '- 1.5', '- null', '- []', '- {}']],
  ['several lines', { command: 'echo a\nrm -rf b\n' }, ['command:', '  | echo a', '  | rm -rf b', '  | ']],
  [
    'what is not seen',
    { a: 'x\u001B[2Jy', b: 'x\r\ny\u202Ez', c: String.raw`x\u001b[2Jy` },
    [
      String.raw`a: |" "x\u001b[2Jy"`,
      'b:',
      String.raw`  |" "x\u000d"`.replace(String.raw`\u000d`, String.raw`\r`),
      String.raw`  |" "y\u202ez"`,
      String.raw`c: x\u001b[2Jy`,
    ],
  ],
  [
    'steps',
    {
      steps: [
        { type: 'shell', command: 'ls', args: ['-l', 'a b'] },
        { type: 'emit', event: 'x' },
      ],
    },
    [
      'steps:',
      '  - type: shell',
      '    command: ls',
      '    args:',
      '      - | -l',
      '      - a b',
      '  - type: emit',
      '    event: x',
    ],
  ],
  [
    'keys',
    { 'a b': 1, 'a:': 2, '': 3, '- c': 4, 'd\u200B': 5 },
    ['"a b": 1', '"a:": 2', '"": 3', '"- c": 4', String.raw`"d\u200b": 5`],
  ],
])('%s', (_what, value, lines) => {
  expect(valueLines(value)).toEqual(lines);
});

describe('no two values look alike', () => {
  const text = oneof(
    string(),
    string({ unit: 'binary' }),
    constantFrom('- a', 'a: b', '| a', '|" "a"', 'a\nb', '{}', '1', 'true', 'a:\n  b', '  a'),
  );
  const values = oneof(
    jsonValue({ stringUnit: 'binary', maxDepth: 3 }),
    text,
    json().map((written) => JSON.parse(written) as Json),
  );

  test('of any shape', () => {
    const seen = new Map<string, string>();
    assert(
      property(values, (value) => {
        const shown = valueLines(value as Json).join('\n');
        const written = JSON.stringify(value);
        expect(seen.get(shown) ?? written).toBe(written);
        seen.set(shown, written);
      }),
      randomRuns(20_000),
    );
  });

  test('of texts in lists and under keys', () => {
    const seen = new Map<string, string>();
    const parts = constantFrom('a', 'b', ':', ' ', '\n', '- ', '|', '"', '  ', '[]');
    const small = string({ unit: parts, maxLength: 4 });
    const value = oneof(
      small,
      small.map((a) => [a]),
      small.map((a) => ({ a })),
      small.map((a) => [[a], a]),
    );
    assert(
      property(value, (given) => {
        const shown = valueLines(given).join('\n');
        const written = JSON.stringify(given);
        expect(seen.get(shown) ?? written).toBe(written);
        seen.set(shown, written);
      }),
      randomRuns(50_000),
    );
  });
});

test('a long value is said to be longer than what is shown of it', () => {
  const lines = Array.from({ length: 100 }, (_, nth) => `line ${nth}`);
  expect(shownBriefly(lines.join('\n'))).toMatchObject({ isWhole: true, total: 100 });
  expect(shownBriefly([...lines, 'touch W'].join('\n'))).toMatchObject({ isWhole: false, total: 101 });
  expect(shownBriefly('x'.repeat(10_000))).toMatchObject({ isWhole: true });
  const { lines: shown, isWhole } = shownBriefly(`${'x'.repeat(10_001)}; touch W`);
  expect(isWhole).toBe(false);
  expect(shown).toEqual([`${'x'.repeat(300)}…`]);
  expect(shownBriefly(null)).toEqual({ lines: [], total: 0, isWhole: true });
});
