/** The JSON Schema of the format: as built, as editors use it, and in agreement with the reader. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { DESCRIPTIONS, EVERYWHERE } from '../../../language/schema/descriptions.ts';
import { definitionSchema, SCHEMA_FILE, schemaText } from '../../../language/schema/definition-schema.ts';
import { PACKAGE } from '../../../services/home/package-root.ts';
import { files, read } from '../../project/tree.ts';
import { builtInParameters } from '../../../systems/catalogue.ts';
import { catalogue } from '../../catalogue.ts';

const schema = definitionSchema(catalogue, builtInParameters());
const accepts = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: false }).compile(
  schema,
);
const complaints = (value: unknown): string => (accepts(value) ? '' : JSON.stringify(accepts.errors));

const cases = new URL('../../cases/definitions/', import.meta.url);
const good = readdirSync(new URL('good/', cases)).map((file) => ({
  file,
  definition: (JSON.parse(readFileSync(new URL(`good/${file}`, cases), 'utf8')) as { definition: Json }).definition,
}));
const asWritten = ['dialects', 'as-written', 'good'].flatMap((kind) =>
  readdirSync(new URL(`${kind}/`, cases)).map((file) => {
    const { written, definition } = JSON.parse(readFileSync(new URL(`${kind}/${file}`, cases), 'utf8')) as {
      written?: Json;
      definition?: Json;
    };
    return { file: `${kind}/${file}`, definition: written ?? definition };
  }),
);
const knownRefs = (name: string) => ({ name, steps: [], loop: { type: 'once' as const } });

test('the file that the build writes says what the commands state now', () => {
  expect(read(SCHEMA_FILE) === schemaText(catalogue, builtInParameters()), 'write it again: npm run build').toBe(true);
});

const shipped = files.filter(
  (path) => path.startsWith('sentinels/') && path.endsWith('.json') && !/\.(?:schema|sentinel-test)\.json$/.test(path),
);

describe('shipped definitions', () => {
  test.each(shipped)('%s names the schema and fits it', (path) => {
    const definition = JSON.parse(read(path)) as { $schema?: string };
    // What `sentinel init` writes lies in a project that has the package.
    const at = path.startsWith('sentinels/init/') ? 'sentinels' : posix.dirname(path);
    const named = posix.join(at, definition.$schema ?? '').replace(`node_modules/${PACKAGE}/`, '');
    expect(named).toBe(SCHEMA_FILE);
    expect(complaints(definition)).toBe('');
  });
});

test.each(good)('the canonical form of $file fits', ({ definition }) => {
  const result = parseDefinition(definition, { catalogue, knownRefs });
  expect(result.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(complaints('definition' in result ? result.definition : undefined)).toBe('');
});

test.each(asWritten)('$file, as its author wrote it, fits', ({ definition }) => {
  expect(complaints(definition)).toBe('');
});

const once = (...steps: Json[]): Json => ({ name: 'x', steps });
const shell = { type: 'shell', command: 'true' };
const strict = { ...shell, fail_on: 'nonzero' };

describe('the light spellings of the $ dialect fit, and are read', () => {
  test.each<[string, Json]>([
    ['a definition without a loop', once(shell)],
    [
      'cmd, timeout, output_to, on_error',
      once({ type: 'shell', cmd: 'true', timeout: '500', output_to: 'a', on_error: 'skip' }),
    ],
    ['numbers as text', { name: 'x', loop: { type: 'count', max: '3' }, steps: [shell] }],
    ['a condition that says "if"', once({ type: 'condition', if: '$iteration > 1', then: [shell] })],
    [
      'a parallel step with "steps"',
      once({ type: 'parallel', fail_fast: true, steps: [strict, [shell, strict], { steps: [strict] }] }),
    ],
    ['a flat loop', once({ type: 'loop', mode: 'count', count: 3, steps: [shell] })],
    [
      'steps without "type"',
      once(
        { command: 'npm test' },
        { event: 'done' },
        { check: '$iteration > 1', else: [{ command: 'health-check' }] },
      ),
    ],
  ])('%s', (_what, definition) => {
    expect(complaints(definition)).toBe('');
    expect(parseDefinition(definition, { catalogue }).problems).toEqual([]);
  });
});

describe('what no reading makes good does not fit', () => {
  test.each<[string, Json]>([
    ['no name', { steps: [shell] }],
    ['no steps', { name: 'x' }],
    ['an unknown key of the definition', { name: 'x', steps: [shell], step: [] }],
    ['an unknown key of a step', once({ ...shell, comand: 'x' })],
    ['an unknown type of step', once({ type: 'shel', command: 'true' })],
    ['a step of nothing that is known', once({ colour: 'red' })],
    ['a shell step without a command', once({ type: 'shell' })],
    ['a number that is no number', once({ ...shell, timeoutMs: 'soon' })],
    ['a negative time', once({ ...shell, timeoutMs: -1 })],
    ['a wrong choice', once({ ...shell, onError: 'ignore' })],
    ['a loop of no known type', { name: 'x', steps: [shell], loop: { type: 'forever' } }],
    ['an until loop without a check', { name: 'x', steps: [shell], loop: { type: 'until', max: 3 } }],
    ['a key of another loop', { name: 'x', steps: [shell], loop: { type: 'count', max: 1, intervalMs: 3 } }],
    ['a bad step in a branch', once({ type: 'parallel', branches: [[{ type: 'shell' }]] })],
    [
      'a bad step in a nested sentinel',
      once({ type: 'sentinel', definition: { name: 'y', steps: [{ type: 'emit' }], loop: { type: 'once' } } }),
    ],
    ['a bad trigger', { name: 'x', steps: [shell], trigger: { type: 'schedule' } }],
    ['a bad mode', { name: 'x', steps: [shell], mode: 'careful' }],
    ['a bad step in always', { name: 'x', steps: [shell], always: [{ type: 'emit' }] }],
  ])('%s', (_what, definition) => {
    expect(accepts(definition)).toBe(false);
    expect(parseDefinition(definition, { catalogue }).ok).toBe(false);
  });
});

describe('every key says what it means', () => {
  const definitions = schema['$defs'] as {
    [id: string]: { description?: string; properties?: { [key: string]: { description?: string } } };
  };
  const objects = Object.entries(definitions).filter(
    ([id, { properties }]) => properties !== undefined && !['Step', 'Loop', 'Trigger'].includes(id),
  );

  const keysOf = (id: string): string[] => Object.keys(definitions[id]?.properties ?? {});

  test.each(objects)('%s', (_id, { description, properties = {} }) => {
    expect(description).toBeTruthy();
    expect(Object.keys(properties).filter((key) => !properties[key]?.description)).toEqual([]);
  });

  test('and no line describes a key that is not there', () => {
    const stale = Object.entries(DESCRIPTIONS).flatMap(([id, lines]) =>
      Object.keys(lines).filter((key) => (key === '' ? definitions[id] === undefined : !keysOf(id).includes(key))),
    );
    const everywhere = Object.keys(EVERYWHERE).filter((key) => !objects.some(([id]) => keysOf(id).includes(key)));
    expect([...stale, ...everywhere]).toEqual([]);
  });
});
