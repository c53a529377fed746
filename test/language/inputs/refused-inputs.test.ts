/** What a run is given is held against what its definition declares, in both forms. */
import { describe, expect, test } from 'vitest';
import { asDeclared, inputFault } from '../../../language/inputs/refused-inputs.ts';
import { declaredInputs, startValues } from '../../../language/inputs/declared-inputs.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';

const definition = (own: Partial<Definition>): Definition => ({
  name: 'job',
  steps: [{ type: 'emit', event: 'done', data: '$target' }],
  loop: { type: 'once' },
  ...own,
});

const deploy = definition({
  inputSchema: {
    type: 'object',
    properties: {
      target: { type: 'string', description: 'where to' },
      port: { type: 'integer', default: 80 },
      stage: { enum: ['a', 'b'] },
    },
    required: ['target'],
  },
});

const said = (of: Definition, given: JsonObject, library: Definition[] = []): string | null =>
  inputFault(of, given, library)?.message ?? null;

describe('an input schema', () => {
  test('takes what fits, and begins with its defaults', () => {
    expect(said(deploy, { target: 'web', port: 8080, stage: 'b' })).toBeNull();
    expect(startValues(deploy)).toEqual({ port: 80 });
  });

  test('refuses what is missing, with what it is for and how to give it', () => {
    expect(said(deploy, {})).toBe('"job": the input "target" (string: where to) is needed; add "target" to the inputs');
    const typed = inputFault(deploy, {}, [], (name) => `give it with --input ${name}=…`);
    expect(typed?.message).toBe(
      '"job": the input "target" (string: where to) is needed; give it with --input target=…',
    );
  });

  test('refuses what does not fit', () => {
    expect(said(deploy, { target: 'web', port: 'x' })).toContain(
      'the input "port" (integer) does not fit: it must be integer',
    );
    expect(said(deploy, { target: 'web', stage: 'c' })).toContain('the input "stage" ("a" or "b") does not fit');
  });

  test('refuses what is not declared, with the nearest name', () => {
    expect(said(deploy, { target: 'web', prot: 1 })).toBe('"job": there is no input "prot"; write "port"');
    expect(said(deploy, { target: 'web', colour: 1 })).toContain('there are target, port, stage');
  });

  test('takes others where it says so', () => {
    const open = definition({ inputSchema: { ...deploy.inputSchema, additionalProperties: true } });
    expect(said(open, { target: 'web', colour: 1 })).toBeNull();
  });

  test('is listed with type, default and description', () => {
    expect(declaredInputs(deploy)).toEqual([
      { name: 'target', type: 'string', description: 'where to', isNeeded: true },
      { name: 'port', type: 'integer', default: 80, isNeeded: false },
      { name: 'stage', type: '"a" or "b"', isNeeded: false },
    ]);
  });

  test('has a number that was written for a text stay the text', () => {
    const texts = new Map([
      ['target', '1.40'],
      ['port', '81'],
    ]);
    expect(asDeclared(deploy, { target: 1.4, port: 81 }, texts)).toEqual({ target: '1.40', port: 81 });
  });

  test.each<[string, JsonObject]>([
    ['one of several texts', { enum: ['1.40', '2.0'] }],
    ['one text', { const: '1.40' }],
    ['a text or nothing', { type: ['string', 'null'] }],
    ['one of several schemas', { anyOf: [{ type: 'string' }, { type: 'boolean' }] }],
    ['a schema elsewhere', { $ref: '#/$defs/version' }],
  ])('has the text for %s too', (_what, schema) => {
    const inputSchema = {
      type: 'object',
      properties: { version: schema, other: { type: 'string' } },
      required: ['other'],
      $defs: { version: { type: 'string' } },
    };
    const texts = new Map([['version', '1.40']]);
    expect(asDeclared(definition({ inputSchema }), { version: 1.4 }, texts)).toEqual({ version: '1.40' });
  });

  test.each<[string, JsonObject]>([
    ['a number or a text', { type: ['number', 'string'] }],
    ['anything', {}],
    ['what neither fits', { type: 'array' }],
  ])('has the value for %s', (_what, schema) => {
    const own = definition({ inputSchema: { type: 'object', properties: { version: schema } } });
    expect(asDeclared(own, { version: 1.4 }, new Map([['version', '1.40']]))).toEqual({ version: 1.4 });
  });

  test('lists the types of alternatives, of a constant and of a schema elsewhere', () => {
    const { $defs, ...properties } = {
      a: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      b: { const: 7 },
      c: { $ref: '#/$defs/port' },
      d: { $ref: '#/$defs/self' },
      e: { oneOf: [{ type: 'string' }, { minLength: 2 }] },
      $defs: { port: { type: 'integer' }, self: { $ref: '#/$defs/self' } },
    };
    const inputSchema = { type: 'object', properties, $defs };
    expect(declaredInputs({ inputSchema }).map(({ type }) => type)).toEqual([
      'string or null',
      '7',
      'integer',
      undefined,
      undefined,
    ]);
  });

  test('says of a value that fits no alternative one thing, and of a part what the part misses', () => {
    const own = definition({
      inputSchema: {
        type: 'object',
        properties: {
          a: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          b: { type: ['integer', 'null'] },
          c: { type: 'object', properties: { dry: { type: 'boolean' } } },
          d: { oneOf: [{ type: 'number' }, { type: 'integer' }, { type: 'string' }] },
          e: { anyOf: [{ minimum: 5 }, { maximum: 2 }] },
        },
      },
    });
    expect(said(own, { a: 1 })).toBe('"job": the input "a" (string or null) does not fit: it must be string or null');
    expect(said(own, { d: 1 })).toContain('does not fit: it must fit exactly one of the alternatives');
    expect(said(own, { e: 3 })).toContain('does not fit: it must fit one of the alternatives');
    expect(said(own, { b: 'x' })).toContain('it must be integer or null');
    expect(said(own, { c: { dry: 1 } })).toBe('"job": the input "c.dry" does not fit: it must be boolean');
  });
});

describe('the plain form', () => {
  const plain = definition({ inputs: { region: 'eu' } });

  test('takes what is declared and what is read', () => {
    expect(said(plain, { region: 'us', target: 'web' })).toBeNull();
    expect(said(definition({}), { target: 'web' })).toBeNull();
  });

  test('refuses what nothing declares or reads, with the nearest name', () => {
    expect(said(plain, { taget: 'web' })).toBe('"job": there is no input "taget"; write "target"');
    expect(said(plain, { colour: 1 })).toContain('there is no input "colour"; there are region');
  });

  test.each<[string, Partial<Definition>]>([
    ['a condition', { steps: [{ type: 'condition', check: 'colour === 1', then: [] }] }],
    ['a loop', { loop: { type: 'count', max: 'colour.length' } }],
    ['a field of the inputs', { steps: [{ type: 'emit', event: 'x', data: '{{input.colour}}' }] }],
    ['all inputs at once', { steps: [{ type: 'emit', event: 'x', data: '$input' }] }],
    ['a shell line', { steps: [{ type: 'shell', command: 'echo $colour' }] }],
    ['a name that is computed', { steps: [{ type: 'emit', event: 'x', data: '{{{{which}}}}' }] }],
    ['a definition known only later', { steps: [{ type: 'sentinel', definition: { $ref: '$which' } }] }],
  ])('takes what is read by %s', (_where, own) => {
    expect(said(definition(own), { colour: 1 })).toBeNull();
  });

  test('takes what a definition reads that it runs', () => {
    const parent = definition({ steps: [{ type: 'sentinel', definition: { $ref: 'child' } }] });
    expect(said(parent, { target: 'web' })).not.toBeNull();
    expect(said(parent, { target: 'web' }, [definition({ name: 'child' })])).toBeNull();
  });
});
