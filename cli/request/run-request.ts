/** What `run` was asked for, read from its options: each mistake is a sentence, found before anything starts. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { faultOfValues, isJsonObject, valueFault, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import { BUILT_INS, isSafeName } from '../../language/expression/scope.ts';
import { refuseFault } from '../../runs/client-error.ts';
import { givenHandleFault } from '../../runs/handles.ts';
import type { Known } from '../../world/definitions/definition-files.ts';
import { readExactly } from './given-json.ts';
import { usage } from './usage.ts';

export function projectFolder(given: string): string {
  try {
    const path = realpathSync(resolve(given));
    if (statSync(path).isDirectory()) return path;
  } catch {
    throw usage(`--project ${given} does not exist; give the folder the run should work in.`);
  }
  throw usage(`--project ${given} is not a folder; give the folder the run should work in.`);
}

/** A folder that runs worked in, as their rows name it: it may be gone since. */
export function projectOnce(given: string): string {
  const path = resolve(given);
  try {
    return realpathSync(path);
  } catch {
    const around = dirname(path);
    return around === path ? path : join(projectOnce(around), basename(path));
  }
}

export function readInputs(file: string | undefined, assignments: readonly string[], option = '--input'): JsonObject {
  const inputs: JsonObject = {};
  const fromFile = file === undefined ? {} : inputsIn(file);
  refuseFault(faultOfValues(fromFile, (name) => `--input-file ${file}: "${name}"`));
  for (const [name, value] of Object.entries(fromFile)) inputs[nameFor(name)] = value;
  for (const assignment of assignments) {
    const { name, value } = assignmentIn(option, assignment);
    inputs[nameFor(name)] = value;
  }
  return inputs;
}

/** `name=value`: its text as it was written, and what it is read as. */
export function assignmentIn(option: string, assignment: string): { name: string; text: string; value: Json } {
  const at = assignment.indexOf('=');
  if (at < 1) throw usage(`${option} ${assignment} has no name and value; write ${option} name=value.`);
  const [name, text] = [assignment.slice(0, at), assignment.slice(at + 1)];
  const value = valueOf(`${option} ${name}`, text);
  refuseFault(valueFault(value, `${option} ${name}`));
  return { name, text, value };
}

/** What was given, as the definition declares it; what it does not take is refused before anything starts. */
export async function fitInputs(
  definition: Definition,
  known: Known,
  { inputs, assignments, note }: { inputs: JsonObject; assignments: readonly string[]; note?: (text: string) => void },
): Promise<JsonObject> {
  const [{ asDeclared, inputFault }, { libraryOf }] = await Promise.all([
    import('../../language/inputs/refused-inputs.ts'),
    import('../../runs/library.ts'),
  ]);
  const fitting = asDeclared(definition, inputs, textsIn(assignments));
  const library = Object.values(libraryOf(definition, known));
  refuseFault(inputFault(definition, fitting, library, (name) => `give it with --input ${name}=…`));
  for (const said of numbersMeantAsText(definition, fitting, textsIn(assignments))) note?.(said);
  return fitting;
}

/** `version=1.10` is the number 1.1 where nothing says that a text is meant. */
function* numbersMeantAsText(
  { inputSchema }: Definition,
  inputs: JsonObject,
  texts: ReadonlyMap<string, string>,
): Generator<string> {
  const declared = isJsonObject(inputSchema?.['properties']) ? inputSchema['properties'] : {};
  for (const [name, text] of texts) {
    const value = inputs[name];
    if (typeof value !== 'number' || String(value) === text.trim() || Object.hasOwn(declared, name)) continue;
    yield `sentinel: --input ${name}=${text} is the number ${value}; write --input '${name}="${text.trim()}"' if the text is meant.`;
  }
}

/** As they were written, by name. */
function textsIn(assignments: readonly string[]): Map<string, string> {
  return new Map(
    assignments.map((assignment) => {
      const at = assignment.indexOf('=');
      return [assignment.slice(0, at), assignment.slice(at + 1)];
    }),
  );
}

function nameFor(name: string): string {
  if (BUILT_INS.has(name))
    throw usage(`the input "${name}" has the name of a built-in variable; give it another name.`);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && isSafeName(name)) return name;
  throw usage(`"${name}" cannot name an input; use letters, digits and _, beginning with a letter.`);
}

export function handleFor(id: string): string {
  refuseFault(givenHandleFault(id));
  return id;
}

/** JSON is a value, anything else text. */
function valueOf(place: string, text: string): Json {
  try {
    return readExactly(place, text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function inputsIn(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(
      `--input-file ${file} cannot be read (${error instanceof Error ? error.message : String(error)}); give a file that holds a JSON object.`,
    );
  }
  const value = valueOf(`--input-file ${file}`, text);
  if (!isJsonObject(value)) throw usage(`--input-file ${file} does not hold a JSON object; write {"name": value, …}.`);
  return value;
}
