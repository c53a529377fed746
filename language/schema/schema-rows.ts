/** What a JSON Schema takes or gives, a row for each field, for people who read it as text. */
import { isJsonObject, pathOfPointer, valueAt, type Json, type JsonObject } from '../json.ts';

export interface SchemaRow {
  /** `edits[].old`: a field of what a list holds. Empty: the value itself. */
  field: string;
  type: string;
  isNeeded: boolean;
  description: string;
}

/** Of fields inside one another; what is deeper is named by its type alone. */
const depthMax = 6;

export function schemaRows(schema: JsonObject): SchemaRow[] {
  const fields = rowsWithin(schema, schema, '', depthMax);
  if (fields.length > 0 || isEmptyObject(schema)) return fields;
  return [{ field: '', type: typeOf(schema, schema), isNeeded: true, description: noteOf(schema) }];
}

const isEmptyObject = (schema: JsonObject): boolean =>
  schema['type'] === 'object' && isJsonObject(schema['properties']) && Object.keys(schema['properties']).length === 0;

function rowsWithin(given: Json, whole: JsonObject, around: string, depth: number): SchemaRow[] {
  const schema = targetOf(given, whole);
  if (depth === 0 || isAnything(schema, whole)) return [];
  const { properties, items, required, anyOf, oneOf = anyOf } = schema;
  if (isJsonObject(items)) return rowsWithin(items, whole, `${around}[]`, depth - 1);
  if (isJsonObject(properties))
    return Object.entries(properties).flatMap(([name, property]) => {
      const field = around === '' ? name : `${around}.${name}`;
      const own = targetOf(property, whole);
      const isNeeded = Array.isArray(required) && required.includes(name) && own['default'] === undefined;
      const row = { field, type: typeOf(own, whole), isNeeded, description: noteOf({ ...own, ...asObject(property) }) };
      return [row, ...rowsWithin(own, whole, field, depth - 1)];
    });
  const forms = Array.isArray(oneOf) ? oneOf.flatMap((form) => rowsWithin(form, whole, around, depth - 1)) : [];
  return merged(forms);
}

/** Where one of several forms is taken, a field of some is not needed. */
function merged(rows: readonly SchemaRow[]): SchemaRow[] {
  const byField = new Map<string, SchemaRow[]>();
  for (const row of rows) byField.set(row.field, [...(byField.get(row.field) ?? []), row]);
  const formsMax = Math.max(0, ...Array.from(byField.values(), (same) => same.length));
  return Array.from(byField, ([field, same]) => ({
    field,
    type: [...new Set(same.map(({ type }) => type))].join(' or '),
    isNeeded: same.length === formsMax && same.every(({ isNeeded }) => isNeeded),
    description: same.find(({ description }) => description !== '')?.description ?? '',
  }));
}

const asObject = (value: Json): JsonObject => (isJsonObject(value) ? value : {});

/** Of `#/$defs/port`; a schema elsewhere is not looked for. */
function targetOf(given: Json, whole: JsonObject, depth = depthMax): JsonObject {
  const schema = asObject(given);
  const { $ref } = schema;
  if (typeof $ref !== 'string' || depth === 0) return schema;
  const target = $ref === '#' ? whole : $ref.startsWith('#/') ? valueAt(whole, pathOfPointer($ref)) : undefined;
  return target === undefined ? schema : targetOf(target, whole, depth - 1);
}

function typeOf(given: Json, whole: JsonObject, depth = depthMax): string {
  const schema = targetOf(given, whole);
  const { type, enum: values, const: only, anyOf, oneOf = anyOf, items, additionalProperties: others } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (only !== undefined) return JSON.stringify(only);
  if (depth === 0) return 'any value';
  if (isAnything(schema, whole)) return 'any value';
  if (Array.isArray(oneOf))
    return [...new Set(oneOf.map((form) => typeOf(form, whole, depth - 1)))].join(' or ') || 'any value';
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, whole, depth - 1)).join(' or ');
  if (type === 'array') return isJsonObject(items) ? `list of ${typeOf(items, whole, depth - 1)}` : 'list';
  if (type === 'integer') return `whole number${boundsOf(schema)}`;
  if (type === 'number') return `number${boundsOf(schema)}`;
  if (type === 'string') return 'text';
  if (type === 'object' && isJsonObject(others) && schema['properties'] === undefined)
    return Object.keys(others).length === 0 ? 'object' : `object of ${typeOf(others, whole, depth - 1)}`;
  return typeof type === 'string' ? type : 'any value';
}

/** Of the types of JSON, one each. */
function isAnything({ anyOf }: JsonObject, whole: JsonObject): boolean {
  if (!Array.isArray(anyOf)) return false;
  const types = new Set(anyOf.map((form) => targetOf(form, whole)['type']));
  return ['null', 'boolean', 'number', 'string', 'array', 'object'].every((type) => types.has(type));
}

/** Bounds that JavaScript has anyway are none. */
function boundsOf({ minimum, exclusiveMinimum, maximum }: JsonObject): string {
  const from =
    typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER
      ? `from ${minimum}`
      : typeof exclusiveMinimum === 'number'
        ? `above ${exclusiveMinimum}`
        : '';
  const to = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? `to ${maximum}` : '';
  const said = [from, to].filter((part) => part !== '').join(' ');
  return said === '' ? '' : ` ${said}`;
}

function noteOf({ description, default: value }: JsonObject): string {
  const said = typeof description === 'string' ? description : '';
  const otherwise = value === undefined ? '' : `default ${JSON.stringify(value)}`;
  return [said, otherwise].filter((part) => part !== '').join('; ');
}
