/** The parameters of a command as models are told of them: the JSON Schema of an object. */
import * as z from 'zod';
import type { Json, JsonObject } from '../language/json.ts';
import { isJsonObject } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import type { Command } from './command.ts';

const known = new WeakMap<Command, JsonObject>();

export function parametersOf(command: Command): JsonObject {
  const before = known.get(command);
  if (before !== undefined) return before;
  const { $schema: _schema, ...schema } = command.parameters ?? schemaOf(command);
  const parameters = asObject(schema);
  known.set(command, parameters);
  return parameters;
}

/** As definitions are held against it, with what models are not told: what one form needs, and what it does not take. */
export function checkedParametersOf(command: Command): JsonObject {
  const parameters = parametersOf(command);
  const { anyOf, oneOf: choices = anyOf } = command.parameters ?? schemaOf(command);
  const rules = [...(Array.isArray(choices) ? formRules(choices.filter(isJsonObject)) : []), ...needRules(command)];
  return rules.length === 0 ? parameters : { ...parameters, allOf: rules };
}

export function resultOf({ result }: Pick<Command, 'result'>): JsonObject {
  const { $schema: _schema, ...schema } = z.toJSONSchema(result, { unrepresentable: 'any' }) as unknown as JsonObject;
  return schema;
}

function needRules({ needs }: Command): JsonObject[] {
  return needs === undefined ? [] : [{ anyOf: needs.map((required) => ({ required: [...required] })) }];
}

const fieldsOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {});

const constantOf = (form: JsonObject, name: string): Json | undefined => {
  const field = fieldsOf(form)[name];
  return isJsonObject(field) ? field['const'] : undefined;
};

/** For forms that one parameter tells apart by its value. */
function formRules(forms: readonly JsonObject[]): JsonObject[] {
  const names = [...new Set(forms.flatMap((form) => Object.keys(fieldsOf(form))))];
  const mark = names.find((name) => forms.every((form) => constantOf(form, name) !== undefined));
  if (mark === undefined) return [];
  return forms.map((form) => ({
    if: { properties: { [mark]: { const: constantOf(form, mark) ?? null } }, required: [mark] },
    then: {
      required: form['required'] ?? [],
      properties: Object.fromEntries(names.filter((name) => !(name in fieldsOf(form))).map((name) => [name, false])),
    },
  }));
}

const schemaOf = ({ params }: Command): JsonObject =>
  z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' }) as unknown as JsonObject;

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
    ...defined({ $defs }),
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
