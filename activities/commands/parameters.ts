/** The parameters of a command as models are told of them: the JSON Schema of an object. */
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import type { Command } from './command.ts';

const known = new WeakMap<Command, JsonObject>();

export function parametersOf(command: Command): JsonObject {
  const before = known.get(command);
  if (before !== undefined) return before;
  const { $schema: _schema, ...schema } = parameterSchemaOf(command);
  const parameters = asObject(schema);
  known.set(command, parameters);
  return parameters;
}

/** As the command has them: of several forms, each. */
export const parameterSchemaOf = ({ params, parameters }: Command): JsonObject =>
  parameters ?? (z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }) as unknown as JsonObject);

/**
 * Providers take an object at the top and no choice between several: a command with several forms offers
 * the fields of all of them, and needs those that each needs. What does not fit is said when it is called.
 */
function asObject(schema: JsonObject): JsonObject {
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(choices)) return { type: 'object', ...schema };
  const objects = choices.filter(isJsonObject);
  const merged: { [name: string]: Json[] } = {};
  for (const form of objects) {
    const { properties } = form;
    for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : [])
      merged[name] = [...(merged[name] ?? []), property];
  }
  const needed = objects.map(({ required }) => (Array.isArray(required) ? required : []));
  const { $defs } = schema;
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(merged).map(([name, forms]) => [name, oneOf(forms)])),
    required: (needed[0] ?? []).filter((name) => needed.every((names) => names.includes(name))),
    ...($defs === undefined ? {} : { $defs }),
  };
}

function oneOf(forms: readonly Json[]): Json {
  const different = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  const values = different.flatMap((form) =>
    isJsonObject(form) && form['const'] !== undefined ? [form['const']] : [],
  );
  if (values.length === different.length && values.length > 1) return { enum: values };
  return different.length === 1 ? (different[0] ?? {}) : { anyOf: different };
}
