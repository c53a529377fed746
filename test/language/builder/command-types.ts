/** Writes the types of what the built-in commands take, from the JSON Schemas that `validate` and models go by. */
import { format } from 'prettier';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';

const HEAD = `/**
 * What the built-in commands take. Written by test/language/builder/command-types.test.ts from their schemas:
 * \`npx vitest run --project fast test/language/builder -u\` writes it again.
 */
import type { Json } from '../../language/json.ts';

export interface BuiltInCommands `;

export function commandTypes(parameters: { readonly [command: string]: JsonObject }): Promise<string> {
  const members = Object.entries(parameters).map(
    ([name, schema]) =>
      `${JSON.stringify(name)}: ${typeOf(schema, isJsonObject(schema['$defs']) ? schema['$defs'] : {})};`,
  );
  return format(`${HEAD}{\n${members.join('\n')}\n}\n`, { parser: 'typescript', printWidth: 120, singleQuote: true });
}

function typeOf(schema: Json | undefined, named: JsonObject): string {
  if (!isJsonObject(schema)) return 'Json';
  const { $ref, const: only, enum: choices, anyOf, type } = schema;
  if (typeof $ref === 'string') return namedType($ref, named);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return union(choices.map((choice) => JSON.stringify(choice)));
  if (Array.isArray(anyOf)) return union(anyOf.map((form) => typeOf(form, named)));
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, named)));
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `(${typeOf(schema['items'], named)})[]`;
    case 'object':
      return objectType(schema, named);
    default:
      return 'Json';
  }
}

/** The one name that zod gives a type which holds itself, and the only such type there is: any JSON. */
function namedType(reference: string, named: JsonObject): string {
  const name = reference.replace('#/$defs/', '');
  const form = named[name];
  const isAnyJson = isJsonObject(form) && Array.isArray(form['anyOf']) && form['anyOf'].length === 6;
  if (!isAnyJson) throw new Error(`the type ${reference} is not any JSON; teach this file to write it`);
  return 'Json';
}

function objectType(schema: JsonObject, named: JsonObject): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) => {
    const said = isJsonObject(property) && typeof property['description'] === 'string' ? property['description'] : '';
    return `${said === '' ? '' : `/** ${said} */\n`}${JSON.stringify(name)}${needed.has(name) ? '' : '?'}: ${typeOf(property, named)};`;
  });
  if (isJsonObject(additionalProperties)) {
    if (members.length > 0)
      throw new Error('an object with both named and other properties; teach this file to write it');
    return `{ [name: string]: ${typeOf(additionalProperties, named)} }`;
  }
  return `{\n${members.join('\n')}\n}`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');
