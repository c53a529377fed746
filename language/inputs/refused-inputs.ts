/**
 * Inputs held against what a definition declares, at the doors where runs are started. A nested run
 * also sees the variables around it, which are never refused.
 */
import { isSafeName, BUILT_INS } from '../expression/scope.ts';
import { isJsonObject, valueAt, type Json, type JsonObject } from '../json.ts';
import type { Definition } from '../model.ts';
import { changeOf } from '../numbers/decimal.ts';
import type { ParamFault } from '../params/param-check.ts';
import { schemaFaults, type SchemaFaults } from '../params/schema-faults.ts';
import { spelledNearly } from '../read/remedies/meant-word.ts';
import { declaredInputs, startValues } from './declared-inputs.ts';
import { namesRead } from './names-read.ts';

export interface InputFault {
  code: 'INPUT_REFUSED';
  message: string;
}

const faultsShownMax = 5;

/** How whoever starts the run gives an input, as the remedy of one that is missing. */
type HowToGive = (name: string) => string;

const inInputs: HowToGive = (name) => `add "${name}" to the inputs`;

/** `library`: all that the definition may start. Null: they can be taken. */
export function inputFault(
  definition: Definition,
  given: JsonObject,
  library: readonly Definition[] = [],
  howToGive: HowToGive = inInputs,
): InputFault | null {
  const faults = [
    ...takenNames(definition, given),
    ...unknownInputs(definition, given, library),
    ...wrongInputs(definition, given, howToGive),
  ];
  if (faults.length === 0) return null;
  const more = faults.length - faultsShownMax;
  const said = faults.slice(0, faultsShownMax).join('; ');
  return {
    code: 'INPUT_REFUSED',
    message: `"${definition.name}": ${said}${more > 0 ? `; and ${more} more` : ''}`,
  };
}

/** What the engine says by itself nobody says in its place, whatever else the definition takes. */
const takenNames = ({ env = [] }: Definition, given: JsonObject): string[] =>
  Object.keys(given)
    .filter((name) => BUILT_INS.has(name) || (name === 'env' && env.length > 0))
    .map((name) => `"${name}" is set by the engine; give the input another name`);

function unknownInputs(definition: Definition, given: JsonObject, library: readonly Definition[]): string[] {
  const declared = declaredInputs(definition).map(({ name }) => name);
  const names = Object.keys(given).filter((name) => !declared.includes(name) && !BUILT_INS.has(name));
  if (names.length === 0 || takesOthers(definition.inputSchema)) return [];
  const read = definition.inputSchema === undefined ? namesRead([definition, ...library]) : undefined;
  if (read?.all === true) return [];
  const known = [...declared, ...(read === undefined ? [] : [...read.names].filter(isInputName))];
  return names.filter((name) => read?.names.has(name) !== true).map((name) => unknownInput(name, known, declared));
}

const isInputName = (name: string): boolean => isSafeName(name) && !BUILT_INS.has(name);

/** Whoever says that others may be given takes them. */
function takesOthers(schema: Definition['inputSchema']): boolean {
  const { additionalProperties = false, patternProperties } = schema ?? {};
  return additionalProperties !== false || patternProperties !== undefined;
}

function unknownInput(name: string, known: readonly string[], declared: readonly string[]): string {
  const near = spelledNearly(name, known);
  if (near !== undefined) return `there is no input "${name}"; write "${near}"`;
  return declared.length === 0
    ? `there is no input "${name}", and nothing in the definition reads $${name}; leave it out, or declare it in "inputs"`
    : `there is no input "${name}"; there are ${declared.join(', ')}`;
}

function wrongInputs(definition: Definition, given: JsonObject, howToGive: HowToGive): string[] {
  const { inputSchema } = definition;
  if (inputSchema === undefined) return [];
  const values = Object.entries({ ...startValues(definition), ...given }).filter(([name]) => !BUILT_INS.has(name));
  const faults = faultsFor(inputSchema)(Object.fromEntries(values));
  // Of what is not declared the nearest name has been told.
  return faults
    .filter(({ code, path }) => code !== 'UNKNOWN_KEY' || path.length > 1)
    .map((fault) =>
      wrongInput(fault, definition, howToGive, valueAt(Object.fromEntries(values), fault.path.map(String))),
    );
}

/** A schema is read once for all runs of its definition. */
const readers = new WeakMap<JsonObject, SchemaFaults>();
function faultsFor(schema: JsonObject): SchemaFaults {
  const faults = readers.get(schema) ?? schemaFaults(schema);
  readers.set(schema, faults);
  return faults;
}

function wrongInput(
  { code, path, message }: ParamFault,
  definition: Definition,
  howToGive: HowToGive,
  value: Json | undefined,
): string {
  const [name = ''] = path;
  const { type, description } = declaredInputs(definition).find((input) => input.name === name) ?? {};
  const words = [type, description].filter((word) => word !== undefined).join(': ');
  const about = words === '' || path.length > 1 ? '' : ` (${words})`;
  if (code === 'MISSING_KEY' && path.length === 1) return `the input "${name}"${about} is needed; ${howToGive(name)}`;
  return path.length === 0
    ? `the inputs do not fit: ${message}`
    : `the input "${path.join('.')}"${about} does not fit: it ${message}${asText(value)}`;
}

/** A number that is not held is handed over as text, which a schema of numbers refuses. */
const asText = (value: Json | undefined): string =>
  typeof value === 'string' && changeOf(value) !== null
    ? ` (${value} has more digits than a number keeps, so it is handed over as text; declare a text)`
    : '';

/**
 * What a command line gave, as the definition declares it: `1.4` is the text "1.4" where text is wanted.
 * `texts`: what was written, of each that was read as a value.
 */
export function asDeclared(definition: Definition, given: JsonObject, texts: ReadonlyMap<string, string>): JsonObject {
  const { inputSchema } = definition;
  if (inputSchema === undefined) return given;
  const entries = Object.entries(given).map(([name, value]): [string, Json] => {
    const text = texts.get(name);
    if (text === undefined) return [name, value];
    if (typeof value !== 'string') return [name, wantsOther(inputSchema, name, value, text) ? text : value];
    // Whoever declares a number takes the nearest one to a fraction of many digits.
    const isFraction = value === text && changeOf(text) === 'rounded';
    return [name, isFraction && wantsOther(inputSchema, name, value, Number(text)) ? Number(text) : value];
  });
  return Object.fromEntries(entries);
}

/** A value that fits stays what it is; where only what else was written may mean fits, that is meant. */
function wantsOther({ required: _others, ...schema }: JsonObject, name: string, value: Json, other: Json): boolean {
  const properties = schema['properties'];
  const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!isJsonObject(own)) return false;
  if (own['type'] === 'string') return typeof other === 'string';
  const faults = schemaFaults(schema);
  const fits = (one: Json): boolean => faults({ [name]: one }).every(({ path }) => path[0] !== name);
  return !fits(value) && fits(other);
}
