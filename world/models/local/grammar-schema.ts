/**
 * A JSON Schema as the grammar of a local model takes it. What only narrows a value (`pattern`, `minimum`)
 * is left to the check that follows every structured answer; what shapes one and has no grammar is refused.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { TurnError } from '../port/turn-failure.ts';

const SHAPING = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'prefixItems',
  'propertyNames',
  'dependentSchemas',
];
const KEPT = [
  'description',
  'type',
  'const',
  'enum',
  'minLength',
  'maxLength',
  'format',
  'minItems',
  'maxItems',
  'required',
];
const FORMATS = ['date', 'time', 'date-time'];

/** Throws a `TurnError` of kind `unsupported`. */
export const grammarSchema = (schema: JsonObject): JsonObject => wholeSchema(schema, refuse);

/** The parameters of a tool: a part without a grammar is a text, which the command that gets it checks. */
export const toolSchema = (schema: JsonObject): JsonObject => wholeSchema(schema, () => ({ type: 'string' }));

/** What stands for a part, named by its path, that has no grammar. */
type Instead = (place: string) => JsonObject;

function wholeSchema(schema: JsonObject, instead: Instead): JsonObject {
  const definitions = schema['$defs'] ?? schema['definitions'];
  return {
    ...converted(schema, 'schema', instead),
    ...(isJsonObject(definitions ?? null) ? { $defs: each(definitions as JsonObject, 'schema.$defs', instead) } : {}),
  };
}

function converted(schema: JsonObject, path: string, instead: Instead): JsonObject {
  const shaping = SHAPING.find((name) => schema[name] !== undefined);
  if (shaping !== undefined) return instead(`${path}.${shaping}`);
  const { $ref: reference } = schema;
  if (typeof reference === 'string') {
    if (!/^#\/(?:\$defs|definitions)\/[^/]+$/.test(reference)) return instead(`${path}.$ref`);
    return { $ref: reference.replace('#/definitions/', '#/$defs/') };
  }
  const choices = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(choices))
    return { oneOf: choices.map((choice, index) => inner(choice, `${path}.oneOf.${index}`, instead)) };
  const kept = Object.fromEntries(KEPT.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])));
  if (!FORMATS.some((format) => format === kept['format'])) delete kept['format'];
  const { type, properties, items, additionalProperties } = schema;
  if (type === undefined && properties === undefined && kept['const'] === undefined && kept['enum'] === undefined)
    return instead(`${path}, which has no "type"`);
  return {
    ...kept,
    ...(properties === undefined
      ? {}
      : { type: 'object', properties: each(properties as JsonObject, `${path}.properties`, instead) }),
    ...(items === undefined ? {} : { items: inner(items, `${path}.items`, instead) }),
    ...(isJsonObject(additionalProperties ?? null) || typeof additionalProperties === 'boolean'
      ? {
          additionalProperties: isJsonObject(additionalProperties ?? null)
            ? inner(additionalProperties ?? null, `${path}.additionalProperties`, instead)
            : (additionalProperties as boolean),
        }
      : {}),
  };
}

const each = (schemas: JsonObject, path: string, instead: Instead): JsonObject =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, inner(schema, `${path}.${name}`, instead)]),
  );

const inner = (schema: Json, path: string, instead: Instead): JsonObject =>
  isJsonObject(schema) ? converted(schema, path, instead) : instead(path);

function refuse(place: string): never {
  throw new TurnError(
    { kind: 'unsupported', what: 'schema' },
    `a local model has no grammar for ${place}; write it with "properties", "items", "enum", "const" or "oneOf"`,
  );
}
