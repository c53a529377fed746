/**
 * What a definition declares of its inputs, in either form: `inputs` names them with their values,
 * `inputSchema` says of each its type, whether it is needed, and what it is for. No validator is
 * needed here, so that workflow code may ask.
 */
import { isJsonObject, pathOfPointer, valueAt, type Json, type JsonObject } from '../json.ts';
import type { Definition } from '../model.ts';
import { defined } from '../defined.ts';

export interface DeclaredInput {
  name: string;
  /** Of `inputSchema`: the types it may have, or the values. */
  type?: string;
  /** Of a list: the types that its items may have. */
  items?: string;
  description?: string;
  default?: Json;
  isNeeded: boolean;
}

type Declaring = Pick<Definition, 'inputs' | 'inputSchema'>;

export function declaredInputs({ inputs = {}, inputSchema }: Declaring): DeclaredInput[] {
  if (inputSchema === undefined)
    return Object.entries(inputs).map(([name, value]) => ({ name, default: value, isNeeded: false }));
  const needed = new Set(neededInputs(inputSchema));
  return Object.entries(propertiesOf(inputSchema)).map(([name, schema]) => ({
    name,
    ...said(isJsonObject(schema) ? schema : {}, inputSchema),
    isNeeded: needed.has(name),
  }));
}

function said(schema: JsonObject, whole: JsonObject): Omit<DeclaredInput, 'name' | 'isNeeded'> {
  const { description, default: value, items: each } = schema;
  const type = typeWords(schema, whole);
  const items = isJsonObject(each) ? typeWords(each, whole) : undefined;
  return {
    ...defined({ type, items }),
    ...(typeof description === 'string' ? { description } : {}),
    ...defined({ default: value }),
  };
}

/** `depth`: of references that are followed, so that one which leads to itself ends. */
function typeWords(schema: JsonObject, whole: JsonObject, depth = 8): string | undefined {
  const { type, enum: values, const: only, anyOf, oneOf, $ref } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  if (only !== undefined) return JSON.stringify(only);
  const types = Array.isArray(type) ? type : [type];
  const words = types.filter((one) => typeof one === 'string');
  if (words.length > 0) return words.join(' or ');
  const target = typeof $ref === 'string' ? [referredBy($ref, whole)] : undefined;
  const choices = target ?? [anyOf, oneOf].find((list) => Array.isArray(list));
  if (choices === undefined || depth === 0) return undefined;
  const each = choices.map((choice) => (isJsonObject(choice) ? typeWords(choice, whole, depth - 1) : undefined));
  return each.includes(undefined) ? undefined : [...new Set(each)].join(' or ');
}

/** Of `#/$defs/port`; a schema elsewhere is not looked for. */
const referredBy = ($ref: string, whole: JsonObject): Json | undefined =>
  $ref.startsWith('#/') ? valueAt(whole, pathOfPointer($ref)) : undefined;

/** What a run begins with before anything is given to it. */
export function startValues({ inputs, inputSchema }: Declaring): JsonObject {
  if (inputSchema === undefined) return inputs ?? {};
  const defaults = Object.entries(propertiesOf(inputSchema)).flatMap(([name, schema]): [string, Json][] =>
    isJsonObject(schema) && schema['default'] !== undefined ? [[name, schema['default']]] : [],
  );
  return Object.fromEntries(defaults);
}

/** Names without which the definition does not run. */
export function neededInputs({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** The names that a definition, canonical or still to be checked, declares. */
export function inputNames({ inputs, inputSchema }: { inputs?: unknown; inputSchema?: unknown }): string[] {
  const declared = isRecord(inputSchema) ? inputSchema['properties'] : inputs;
  return isRecord(declared) ? Object.keys(declared) : [];
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {});

const isRecord = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
