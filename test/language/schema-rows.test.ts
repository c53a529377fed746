/** A JSON Schema as rows of fields. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../language/json.ts';
import { schemaRows } from '../../language/schema/schema-rows.ts';

const shown = (schema: JsonObject): string[] =>
  schemaRows(schema).map(({ field, type, isNeeded, description }) =>
    [field, type, isNeeded ? 'needed' : 'optional', description].join(' | '),
  );

const recursive: JsonObject = { type: 'object', properties: { next: { $ref: '#' }, leaf: { type: 'null' } } };

test.each<[string, JsonObject, string[]]>([
  ['text alone', { type: 'string' }, [' | text | needed | ']],
  ['nothing', {}, [' | any value | needed | ']],
  ['an object without fields', { type: 'object', properties: {} }, []],
  [
    'fields, one of them with a default',
    {
      type: 'object',
      required: ['a', 'b'],
      properties: {
        a: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'how many' },
        b: { enum: ['x', 2], default: 'x' },
        c: { type: ['string', 'null'] },
      },
    },
    [
      'a | whole number from 1 | needed | how many',
      'b | "x" or 2 | optional | default "x"',
      'c | text or null | optional | ',
    ],
  ],
  [
    'lists of objects, and maps',
    {
      type: 'object',
      properties: {
        edits: { type: 'array', items: { type: 'object', required: ['old'], properties: { old: { type: 'string' } } } },
        env: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    ['edits | list of object | optional | ', 'edits[].old | text | needed | ', 'env | object of text | optional | '],
  ],
  [
    'forms, of which one is taken',
    {
      anyOf: [
        { type: 'object', required: ['op', 'a'], properties: { op: { const: 'x' }, a: { type: 'number' } } },
        { type: 'object', required: ['op'], properties: { op: { const: 'y' } } },
      ],
    },
    ['op | "x" or "y" | needed | ', 'a | number | optional | '],
  ],
])('%s', (_what, schema, rows) => expect(shown(schema)).toEqual(rows));

test('a schema that refers to itself ends', () => {
  expect(schemaRows(recursive).length).toBeLessThan(50);
  const mutual: JsonObject = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  expect(schemaRows(mutual)).toHaveLength(1);
});
