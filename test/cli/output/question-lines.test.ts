/** What people are shown of an open question: with a form, its fields and a command whose data fit it. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { howToAnswer, questionLines } from '../../../cli/output/question-lines.ts';
import { formFault } from '../../../language/params/form.ts';
import type { Json, JsonObject } from '../../../language/json.ts';

const approval = {
  handle: 'nightly',
  id: 'steps.0@1',
  choices: ['approve', 'reject', 'abort'] as const,
  show: null,
  digest: 'a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718',
};

/** What a shell makes of the command. */
function dataIn(lines: readonly string[]): Json {
  const command = lines.find((line) => line.includes(' approve --data ')) ?? '';
  const shown = execFileSync('sh', ['-c', command.replace(/^sentinel answer \S+ \S+ approve --data/, "printf '%s'")], {
    encoding: 'utf8',
  });
  return JSON.parse(shown) as Json;
}

test('one without a form is answered by a word', () => {
  expect(questionLines({ ...approval, message: 'Go\n on?', form: null })).toEqual([
    '  asks: Go on?',
    '    sentinel answer nightly steps.0@1 approve|reject|abort',
  ]);
});

test('one with a form tells its fields, those that must be given first', () => {
  const form: JsonObject = {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 3 },
      version: { type: 'string', description: "the version's name" },
      channel: { enum: ['stable', "it's"] },
    },
    required: ['version', 'channel'],
  };
  expect(howToAnswer({ ...approval, form })).toEqual([
    `needs --data with version (text: the version's name), channel ("stable" or "it's"), count (a whole number, may be left out)`,
    `sentinel answer nightly steps.0@1 approve --data '{"version":"text","channel":"stable"}'`,
    'sentinel answer nightly steps.0@1 reject|abort',
  ]);
});

describe('the example fits the form', () => {
  test.each<[string, JsonObject]>([
    [
      'kinds of values',
      {
        type: 'object',
        properties: {
          a: { type: 'integer', minimum: 7 },
          b: { type: 'boolean' },
          c: { type: 'array', items: { type: 'number' }, minItems: 1 },
          d: { type: ['null', 'string'] },
          e: { type: 'string', minLength: 9 },
        },
      },
    ],
    ['quotes', { type: 'object', properties: { a: { const: `it's "so"` } }, required: ['a'] }],
    [
      'objects in objects',
      {
        type: 'object',
        properties: {
          a: {
            type: 'object',
            properties: { b: { type: 'string', default: 'x' } },
            required: ['b'],
            additionalProperties: false,
          },
        },
        required: ['a'],
      },
    ],
    ['no fields', { type: 'object' }],
  ])('%s', (_what, form) => {
    expect(formFault(form, dataIn(howToAnswer({ ...approval, form })))).toBeNull();
  });
});
