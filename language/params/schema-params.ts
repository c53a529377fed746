/** Parameters of commands held against JSON Schemas that are known by the command's name. */
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { nearestFix } from '../read/remedies/meant-word.ts';
import type { ParamCheck, ParamFault } from './param-check.ts';
import { schemaFaults, type SchemaFaults } from './schema-faults.ts';

export interface ParamSchemas {
  readonly [command: string]: JsonObject;
}

interface Form {
  schema: JsonObject;
  faults: SchemaFaults;
}

/** A schema is read when its command is first asked about. */
export function paramsCheck(schemas: ParamSchemas): ParamCheck {
  const read = new Map<string, Form[]>();
  return (command, params) => {
    if (!Object.hasOwn(schemas, command)) return [];
    const forms = read.get(command) ?? formsOf(schemas[command] ?? {});
    read.set(command, forms);
    return faultsIn(forms, params);
  };
}

/** A command with several forms takes what one of them takes. */
function formsOf(schema: JsonObject): Form[] {
  const { anyOf, oneOf, ...shared } = schema;
  const choices = anyOf ?? oneOf;
  const schemas = Array.isArray(choices)
    ? choices.filter(isJsonObject).map((form) => ({ ...shared, ...form }))
    : [schema];
  return schemas.map((one) => ({ schema: one, faults: schemaFaults(one) }));
}

/** Of several forms, what is wrong with the one that was meant: it has the words that were written, and else the least is wrong with it. */
function faultsIn(forms: readonly Form[], params: JsonObject): ParamFault[] {
  const found = forms.map(({ schema, faults }) => ({ schema, faults: faults(params), says: saysOf(schema, params) }));
  if (found.some(({ faults }) => faults.length === 0)) return [];
  const [meant] = found.toSorted((a, b) => b.says - a.says || a.faults.length - b.faults.length);
  if (meant === undefined) return [];
  const told = meant.faults.map((fault) => withRemedy(fault, meant.schema));
  // What is missing is there, misspelt.
  const misspelt = new Set(told.map(({ fix }) => fix));
  return told.filter(({ code, path }) => code !== 'MISSING_KEY' || !misspelt.has(`write "${path.join('.')}"`));
}

/** How many of the words that tell a form stand in the parameters. */
function saysOf({ properties }: JsonObject, params: JsonObject): number {
  const told = Object.entries(isJsonObject(properties) ? properties : {});
  return told.filter(([name, schema]) => isJsonObject(schema) && isWord(schema, params[name])).length;
}

const isWord = ({ const: word, enum: words }: JsonObject, value: Json | undefined): boolean =>
  value !== undefined && (word === value || (Array.isArray(words) && words.includes(value)));

function withRemedy(fault: ParamFault, schema: JsonObject): ParamFault {
  if (fault.code !== 'UNKNOWN_KEY' || fault.path.length !== 1) return fault;
  const { properties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const { fix } = nearestFix(fault.path[0] ?? '', names);
  const words = fix ?? (names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`);
  return { ...fault, message: `${fault.message}; ${words}`, ...(fix === undefined ? {} : { fix }) };
}
