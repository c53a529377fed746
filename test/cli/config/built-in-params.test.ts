/** What a definition gives the built-in commands is held against what they take, before anything starts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInParameters } from '../../../systems/catalogue.ts';
import { openOutput } from '../../../cli/output/output.ts';
import { commandsIn } from '../../../cli/request/project-config.ts';
import { isJsonObject, type Json } from '../../../language/json.ts';
import { schemaFaults } from '../../../language/params/schema-faults.ts';
import type { Problem } from '../../../language/problems.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-built-in-params-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let commands: ProjectCommands;
beforeAll(async () => {
  commands = await commandsIn(folder, openOutput({}));
});

const problemsOf = (definition: unknown): readonly Problem[] =>
  parseDefinition(definition, { ...commands, knownRefs: () => undefined }).problems;
const given = (command: string, params: object): readonly Problem[] =>
  problemsOf({ name: 'case', inputs: { it: 'x' }, steps: [{ type: 'command', command, params }] });

test('a parameter that is missing, unknown or wrong is a problem with its place', () => {
  expect(given('code/read', { pth: 'a' })).toMatchObject([
    { code: 'MISSING_KEY', path: 'steps.0.params.path', message: '"code/read": the parameter "path" is needed' },
    {
      code: 'UNKNOWN_KEY',
      path: 'steps.0.params.pth',
      message: '"code/read": the parameter "pth" is not taken; write "path"',
    },
  ]);
  expect(given('code/git', { operation: 'pul' })).toMatchObject([
    {
      code: 'WRONG_VALUE',
      path: 'steps.0.params.operation',
      message: expect.stringMatching(/^"code\/git": .* does not fit: must be one of "[^;]*"pull"/) as string,
    },
  ]);
  expect(given('code/verify', { checks: ['mocha'] })).toMatchObject([{ path: 'steps.0.params.checks.0' }]);
  expect(given('screenshot', { url: 5 })).toMatchObject([{ code: 'WRONG_TYPE', path: 'steps.0.params.url' }]);
});

test('what holds a reference is checked when the step is reached', () => {
  expect(given('code/read', { path: '$it' })).toEqual([]);
  expect(given('code/search', { pattern: 'a', limit: '{{it}}' })).toEqual([]);
  expect(given('code/git', { operation: '$it' })).toEqual([]);
});

test.each(Object.entries(builtInParameters()))('what %s takes can be checked', (_name, schema) => {
  expect(() => schemaFaults(schema)).not.toThrow();
});

const root = join(import.meta.dirname, '..', '..', '..');
const folders = ['sentinels/examples', 'test/cases/definitions/dialects'];
const files = folders.flatMap((path) =>
  readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(path, name)),
);
const definitionsIn = (value: Json): Json[] => {
  if (Array.isArray(value)) return value.flatMap(definitionsIn);
  if (!isJsonObject(value)) return [];
  return 'name' in value && 'steps' in value ? [value] : Object.values(value).flatMap(definitionsIn);
};

test.each(files)('what %s gives is taken', (file) => {
  const definitions = definitionsIn(JSON.parse(readFileSync(join(root, file), 'utf8')) as Json);
  const wrong = definitions.flatMap(problemsOf).filter(({ path }) => /(?:^|\.)params(?:\.|$)/.test(path));
  expect(wrong.filter(({ severity }) => severity === 'error')).toEqual([]);
});
