// Writes the types of what the built-in commands take, from the JSON Schemas that `validate` and models go by.
import { format } from 'prettier';

const HEAD = `/** What the built-in commands take; written by the build (scripts/generated.mjs) from their schemas. */
import type { Json } from '../../language/json.ts';

export interface BuiltInCommands `;

/** `parameters`: the JSON Schema of each command, by its name. */
export function commandTypes(parameters) {
  const members = Object.entries(parameters).map(
    ([name, schema]) => `${JSON.stringify(name)}: ${typeOf(schema, isObject(schema.$defs) ? schema.$defs : {})};`,
  );
  return format(`${HEAD}{\n${members.join('\n')}\n}\n`, { parser: 'typescript', printWidth: 120, singleQuote: true });
}

/** For the first build of all, which knows no command yet. */
export const NO_COMMANDS = `${HEAD}{}\n`;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function typeOf(schema, named) {
  if (!isObject(schema)) return 'Json';
  const { $ref, const: only, enum: choices, anyOf, type } = schema;
  if (typeof $ref === 'string') return namedType($ref, named);
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return union(choices.map((choice) => JSON.stringify(choice)));
  if (Array.isArray(anyOf)) return union(anyOf.map((form) => typeOf(form, named)));
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, named)));
  if (type === 'array') return `(${typeOf(schema.items, named)})[]`;
  if (type === 'object') return objectType(schema, named);
  return PLAIN[type] ?? 'Json';
}

const PLAIN = { string: 'string', boolean: 'boolean', null: 'null', number: 'number', integer: 'number' };

/** The one name that zod gives a type which holds itself, and the only such type there is: any JSON. */
function namedType(reference, named) {
  const form = named[reference.replace('#/$defs/', '')];
  const isAnyJson = isObject(form) && Array.isArray(form.anyOf) && form.anyOf.length === 6;
  if (!isAnyJson) throw new Error(`the type ${reference} is not any JSON; teach this file to write it`);
  return 'Json';
}

function objectType({ properties = {}, required = [], additionalProperties }, named) {
  const members = Object.entries(properties).map(([name, property]) => {
    const said = isObject(property) && typeof property.description === 'string' ? property.description : '';
    const comment = said === '' ? '' : `/** ${said} */\n`;
    return `${comment}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(property, named)};`;
  });
  if (isObject(additionalProperties)) {
    // What the others may be has to fit the named ones, too.
    if (members.length > 0) return `{\n${members.join('\n')}\n[name: string]: unknown;\n}`;
    return `{ [name: string]: ${typeOf(additionalProperties, named)} }`;
  }
  return `{\n${members.join('\n')}\n}`;
}

const union = (types) => [...new Set(types)].join(' | ');
