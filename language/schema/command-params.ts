/** What commands take, for a schema of definitions: each value may be a reference, or JSON as text, in its place. */
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** The JSON Schemas of what commands take, by the names of the commands. */
export interface ParamSchemas {
  readonly [command: string]: JsonObject;
}

/** A rule for each command that is known by its name. */
export function commandRules(schemas: ParamSchemas): JsonObject[] {
  return Object.entries(schemas).map(([command, schema]) => ({
    if: { properties: { command: { const: command } }, required: ['command'] },
    then: { properties: { params: open(schema) } },
  }));
}

const TEXT_FOR_VALUE: JsonObject = { type: 'string', pattern: String.raw`\$[A-Za-z_]|\{\{|^\s*[\[{]` };

const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const INSIDE: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

/** The forms of one value are not opened by themselves: the value is. */
function open(schema: Json): Json {
  return isJsonObject(schema) ? { anyOf: [within(schema), TEXT_FOR_VALUE] } : schema;
}

/** A definition of the command's own schema is not there: what refers to one is any value. */
function within(schema: JsonObject): JsonObject {
  if (schema['$ref'] !== undefined) return {};
  const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
    if (key === '$schema' || key === '$defs' || key === 'format') return [];
    if (key === 'properties' && isJsonObject(value))
      return [[key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, open(inner)]))]];
    if (LISTS.has(key) && Array.isArray(value))
      return [[key, value.map((inner) => (isJsonObject(inner) ? within(inner) : inner))]];
    return [[key, INSIDE.has(key) ? open(value) : value]];
  });
  return Object.fromEntries(entries);
}
