/** Schemas and patterns that others write: what holding a value against them costs is bounded, and honest ones work. */
import { describe, expect, test } from 'vitest';
import { formFault } from '../../../language/params/form.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { schemaFaults } from '../../../language/params/schema-faults.ts';
import { linearPattern, PatternCost } from '../../../language/params/linear-pattern.ts';
import { processorMs } from '../../elapsed.ts';

/** What an honest schema of some size costs here and now. */
const honest: JsonObject = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { type: 'string', minLength: 1 }])),
};
formFault({ ...honest, title: 'the first takes longer' }, {});
const honestMs = Math.max(
  5,
  processorMs(() => formFault({ ...honest, title: String(Math.random()) }, {})),
);

/** Each level is two choices of the next: 2^levels ways. */
function doubled(levels: number, keyword: 'anyOf' | 'oneOf' | 'allOf'): JsonObject {
  const definitions = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/definitions/l${level + 1}` };
      return [`l${level}`, { [keyword]: [next, { ...next }] }];
    }),
  );
  return {
    $ref: '#/definitions/l0',
    definitions: { ...definitions, [`l${levels}`]: keyword === 'allOf' ? {} : { type: 'string' } },
  };
}

function deep(levels: number): Json {
  let value: Json = 7;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const itself = { $ref: '#' };
const HOSTILE: [string, JsonObject, Json][] = [
  ['24 levels of anyOf', doubled(24, 'anyOf'), 7],
  ['24 levels of oneOf', doubled(24, 'oneOf'), 7],
  ['24 levels of allOf', doubled(24, 'allOf'), 7],
  [
    'choices that double with each level of the value',
    {
      anyOf: [
        { properties: { a: itself }, required: ['b'] },
        { properties: { a: itself }, required: ['c'] },
      ],
    },
    deep(24),
  ],
  ['itself in allOf', { allOf: [itself] }, 7],
  ['itself in if', { if: itself }, 7],
  ['a pattern that goes back', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(28)}b`],
  [
    'the name of a property by such a pattern',
    { type: 'object', patternProperties: { '^(a+)+$': {} } },
    { [`${'a'.repeat(28)}b`]: 1 },
  ],
  ['such a pattern with look-ahead', { type: 'string', pattern: '^(?=a)(a+)+$' }, `${'a'.repeat(28)}b`],
  [
    'a text of 1 MB for a pattern with many states',
    { type: 'string', pattern: '(?:[a-z]{1,30}){1,30}$' },
    `${'a'.repeat(1_000_000)}!`,
  ],
  [
    '20,000 objects that must differ',
    { type: 'array', uniqueItems: true },
    Array.from({ length: 20_000 }, (_, at) => ({ at })),
  ],
  [
    'itself behind x-words',
    { $ref: '#/x-words/a', 'x-words': { a: { anyOf: [{ $ref: '#/x-words/a' }, { $ref: '#/x-words/a' }] } } },
    7,
  ],
  [
    'itself within a value',
    { $ref: '#/const/a', const: { a: { anyOf: [{ $ref: '#/const/a' }, { $ref: '#/const/a' }] } } },
    7,
  ],
];

describe('hostile schemas', () => {
  test.each(HOSTILE)('%s', (_what, schema, value) => {
    const spentMs = processorMs(() => expect(formFault(schema, value)).not.toBe(undefined));
    expect(spentMs).toBeLessThan(40 * honestMs);
    const asParams = processorMs(() => {
      try {
        schemaFaults(schema)({ a: value });
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    });
    expect(asParams).toBeLessThan(40 * honestMs);
  });

  test('a schema of more than 2,000 schemas, or 100 deep, is refused in words', () => {
    const wide = { properties: Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`p${at}`, {}])) };
    expect(formFault(wide, {})).toContain('at most 2000 schemas');
    let nested: JsonObject = {};
    for (let level = 0; level < 100; level += 1) nested = { not: nested };
    expect(formFault(nested, {})).toContain('deep');
  });
});

describe('honest schemas', () => {
  test.each<[string, JsonObject, Json, string | null]>([
    ['choices', { oneOf: [{ type: 'string' }, { type: 'number' }] }, 5, null],
    ['one that holds itself', { properties: { a: itself }, additionalProperties: false }, { a: { a: {} } }, null],
    [
      'and finds what is wrong within',
      { properties: { a: itself }, additionalProperties: false },
      { a: { b: 1 } },
      'additional',
    ],
    ['a pattern', { type: 'string', pattern: '^\\d{4}-\\d{2}$' }, '2026-11', null],
    ['a pattern with look-ahead', { type: 'string', pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' }, 'Secret123', null],
    ['that finds nothing', { type: 'string', pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' }, 'secret', 'pattern'],
    ['a back reference', { type: 'string', pattern: '^(["\']).*\\1$' }, '"x"', null],
    ['items that differ', { uniqueItems: true }, [{ a: 1 }, { a: 2 }], null],
    [
      'items that are the same',
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'duplicate',
    ],
    ['an enum of objects', { enum: [{ a: 1 }] }, { a: 1 }, null],
    [
      'a property named const',
      { properties: { const: { type: 'string' }, b: { $ref: '#/properties/const' } } },
      { b: 'x' },
      null,
    ],
    [
      'a list of 100,000 objects',
      { items: { type: 'object', required: ['a'] } },
      Array.from({ length: 100_000 }, () => ({ a: 1 })),
      null,
    ],
  ])('%s', (_what, schema, value, found) => {
    const fault = formFault(schema, value);
    if (found === null) expect(fault).toBeNull();
    else expect(fault).toContain(found);
  });
});

describe('patterns', () => {
  test.each(['(', '[', 'a{2,1}', '(?<n>a)(?<n>b)'])('%s is none', (source) => {
    expect(() => linearPattern(source)).toThrow();
  });

  test('a text that is too long for a pattern is not held against it', () => {
    expect(() => linearPattern('^(?!x).*.*$').test('a'.repeat(10_000))).toThrow(PatternCost);
    expect(linearPattern('^[a-z]+$').test('a'.repeat(1_000_000))).toBe(true);
  });
});
