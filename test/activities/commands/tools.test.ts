/** Commands as tools of models: providers take an object at the top, and no choice between several. */
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { WIRE_NAME_LENGTH_MAX } from '../../../language/models/tool-names.ts';
import { toolsFor } from '../../../activities/turns/turn-options.ts';

const registry = builtInRegistry();
const tools = toolsFor(registry, registry.names());

test('every built command says in a sentence what it does', () => {
  expect(tools).toHaveLength(registry.names().length);
  expect(tools.filter(({ description }) => !/^[A-Z].*\.$/.test(description)).map(({ name }) => name)).toEqual([]);
  expect(
    tools.filter(({ description }) => description.startsWith('Runs the command ')).map(({ name }) => name),
  ).toEqual([]);
  expect(tools.filter(({ name }) => name.length > WIRE_NAME_LENGTH_MAX)).toEqual([]);
});

test.each(tools.map((tool) => [tool.name, tool] as const))(
  '%s has a schema that providers take',
  (_name, { parameters }) => {
    expect(parameters['type']).toBe('object');
    for (const key of ['anyOf', 'oneOf', 'allOf', '$schema']) expect(parameters).not.toHaveProperty(key);
    expect(new Ajv({ strict: false, logger: false }).validateSchema(parameters)).toBe(true);
  },
);

test('a command with several forms offers the fields of all, and needs those of each', () => {
  const [git] = toolsFor(registry, ['code/git']);
  const { properties, required } = (git?.parameters ?? {}) as {
    properties: { operation: { enum: string[] } };
    required: string[];
  };
  expect(required).toEqual(['operation']);
  expect(properties.operation.enum).toEqual(expect.arrayContaining(['status', 'commit', 'diff']));
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(['message', 'paths']));
});

test('a command that this worker lacks is not offered', () => {
  expect(toolsFor(registry, ['no/such', 'code/read']).map(({ name }) => name)).toEqual(['code/read']);
});
