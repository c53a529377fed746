/** What commands take and give, held against what definitions write: by the reader of a project and by the published schema. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInParameters } from '../../../systems/catalogue.ts';
import { builtInCommands } from '../../../systems/built-in.ts';
import { openOutput } from '../../../cli/output/output.ts';
import { commandsIn } from '../../../cli/request/project-config.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Problem } from '../../../language/problems.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { definitionSchema } from '../../../language/schema/definition-schema.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';
import { catalogue } from '../../catalogue.ts';

const fits = new Ajv2020({ strict: false }).compile(definitionSchema(catalogue, builtInParameters()));

const folder = mkdtempSync(join(tmpdir(), 'sentinel-params-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let commands: ProjectCommands;
beforeAll(async () => {
  commands = await commandsIn(folder, openOutput({}));
});

const definition = (command: string, given: JsonObject): JsonObject => ({
  name: 'case',
  inputs: { a: 1 },
  steps: [{ type: 'command', command, params: given }],
  loop: { type: 'once' },
});

const found = (command: string, given: JsonObject): Problem[] =>
  parseDefinition(definition(command, given), commands).problems;

describe('parameters that a command does not take', () => {
  test.each<[string, JsonObject, object]>([
    ['code/read', { pth: 'x' }, { code: 'UNKNOWN_KEY', path: 'steps.0.params.pth' }],
    ['code/read', {}, { code: 'MISSING_KEY', path: 'steps.0.params.path' }],
    ['code/search', { pattern: 'x', limit: 'many' }, { code: 'WRONG_TYPE', path: 'steps.0.params.limit' }],
    ['code/git', { operation: 'pul' }, { code: 'WRONG_VALUE', path: 'steps.0.params.operation' }],
    [
      'code/edit',
      { path: 'a', edits: [{ old: 1, new: 'x' }] },
      { code: 'WRONG_TYPE', path: 'steps.0.params.edits.0.old' },
    ],
    ['code/git', { operation: 'commit' }, { code: 'MISSING_KEY', path: 'steps.0.params.message' }],
    [
      'code/git',
      { operation: 'add', paths: ['$a'], message: 'x' },
      { code: 'UNKNOWN_KEY', path: 'steps.0.params.message' },
    ],
    [
      'data/delete',
      { collection: '$a' },
      { code: 'MISSING_KEY', message: expect.stringContaining('"id" or "filter"') },
    ],
    ['data/update', { collection: 'c', data: { n: 1 } }, { code: 'MISSING_KEY', path: 'steps.0.params' }],
    [
      'code/edit',
      { path: 'a', old: 'x' },
      {
        code: 'MISSING_KEY',
        message: '"code/edit": what it is given does not fit: must hold "old" and "new" or "edits"',
      },
    ],
    ['ai/generate', { system: 'x' }, { code: 'MISSING_KEY', path: 'steps.0.params' }],
    ['ai/should-respond', { strategy: 'x' }, { code: 'MISSING_KEY', path: 'steps.0.params' }],
    ['health-check', { a: 1 }, { code: 'UNKNOWN_KEY', path: 'steps.0.params.a' }],
  ])('%s %j', (command, given, problem) => {
    expect(found(command, given)).toContainEqual(expect.objectContaining({ severity: 'error', ...problem }));
    expect(fits(definition(command, given))).toBe(false);
    expect(builtInCommands.find(({ name }) => name === command)?.params.safeParse(given).success).toBe(false);
  });
});

test.each<[string, JsonObject, object[]]>([
  [
    'code/read',
    { path: 'x', encodng: 'utf8' },
    [{ message: '"code/read": the parameter "encodng" is not taken; write "encoding"', fix: 'write "encoding"' }],
  ],
  [
    'code/read',
    { path: 'x', lines: 3 },
    [{ message: '"code/read": the parameter "lines" is not taken; there are path, encoding' }],
  ],
  ['code/read', { path: '' }, [{ message: '"code/read": the parameter "path" does not fit: must not be empty' }]],
  [
    'code/search',
    { pattern: 'x', glob: 3 },
    [{ code: 'WRONG_TYPE', message: '"code/search": the parameter "glob" does not fit: must be string or array' }],
  ],
  [
    'data/list',
    { collection: 'c', orderBy: [{ field: 'a', direction: 'down' }] },
    [{ code: 'WRONG_VALUE', path: 'steps.0.params.orderBy.0.direction' }],
  ],
  ['data/list', { collection: 'c', orderBy: { feld: 'a' } }, [{ code: 'MISSING_KEY' }, { code: 'UNKNOWN_KEY' }]],
])('what is wrong is said once, with what is taken: %s %j', (command, given, problems) => {
  expect(found(command, given)).toMatchObject(problems);
});

describe('parameters that it takes', () => {
  test.each<[string, JsonObject]>([
    ['code/read', { path: 'x' }],
    ['code/read', { path: '$a' }],
    ['code/git', { operation: '$a', message: 'x' }],
    ['code/git', { operation: 'commit', message: '$a' }],
    ['code/git', { operation: 'status' }],
    ['code/git', { operation: 'switch', branch: 'b', create: true }],
    ['data/delete', { collection: 'c', id: '$a' }],
    ['data/update', { collection: 'c', filter: '$a', data: '$a' }],
    ['code/edit', { path: 'a', old: '$a', new: '' }],
    ['ai/generate', { messages: '$a' }],
    ['code/search', { pattern: 'x', limit: '$a' }],
    ['code/search', { pattern: 'x', limit: '{{a + 1}}', ignoreCase: '{{a}}' }],
    ['code/edit', { path: 'a', edits: '$a' }],
    ['code/git', { operation: 'status' }],
    ['code/git', { operation: 'commit', message: 'x' }],
    ['data/list', { collection: 'a', filter: { n: { $gte: 1 } } }],
    ['sentinel/run', { name: 'x', inputs: { a: '$a' } }],
  ])('%s %j', (command, given) => {
    expect(found(command, given).filter(({ severity }) => severity === 'error')).toEqual([]);
    fits(definition(command, given));
    expect(fits.errors ?? []).toEqual([]);
  });
});

const reading = (command: string, params: JsonObject, read: string): JsonObject => ({
  name: 'case',
  steps: [
    { type: 'command', command, params, outputTo: 'given' },
    { type: 'emit', event: 'told', data: read },
  ],
  loop: { type: 'once' },
});

const problemsOf = (command: string, params: JsonObject, read: string): Problem[] =>
  parseDefinition(reading(command, params, read), commands).problems;

describe('fields of what commands give', () => {
  test.each<[string, JsonObject, string, string]>([
    ['code/read', { path: 'a' }, '$given.contents', '$given.content'],
    ['code/search', { pattern: 'a' }, '{{given.matches.0.lin}}', '{{given.matches.0.line}}'],
    ['code/write', { path: 'a', content: 'a' }, '$given.changd', '$given.changed'],
  ])('%s %j %s', (command, params, read, meant) => {
    expect(problemsOf(command, params, read)).toMatchObject([
      { code: 'UNKNOWN_FIELD', severity: 'warning', path: 'steps.1.data', fix: `write "${meant}"` },
    ]);
    expect(problemsOf(command, params, meant)).toEqual([]);
  });

  test('a row may have any field', () => {
    expect(problemsOf('data/read', { collection: 'c', id: 'i' }, '$given.whatever.there.is')).toEqual([]);
  });
});
