/** The parameters of a command, as a person types them, held against what the command takes before anything starts. */
import { readFileSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { durationIn } from '../../language/references/times.ts';
import { nearestOf } from '../../client/nearest.ts';
import type { ListedCommand } from '../../client/lookup/command-list.ts';
import { givenJson } from './given-json.ts';
import { assignmentIn } from './run-request.ts';
import { usage } from './usage.ts';

const REMEDY = `write it in single quotes: --params '{"name": "value"}', or name a file: --params @FILE`;

export interface Typed {
  /** JSON, `@FILE`, or `-` for stdin. */
  params?: string;
  /** `name=value`; what is said here comes before `params`. */
  param: readonly string[];
}

export async function commandParams(command: ListedCommand, { params, param }: Typed): Promise<JsonObject> {
  const given = params === undefined ? {} : await objectIn(params);
  const said = param.map((assignment) => assignmentIn('--param', assignment));
  const properties = isJsonObject(command.params?.['properties']) ? command.params['properties'] : {};
  const typed = said.map(({ name, text, value }): JsonObject => {
    const { type } = isJsonObject(properties[name]) ? properties[name] : {};
    return { [name]: type === 'string' ? text : value };
  });
  const all: JsonObject = Object.assign({}, given, ...typed);
  const read = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [
      name,
      name.endsWith('Ms') && typeof value === 'string' ? (durationIn(value) ?? value) : value,
    ]),
  );
  await refuseFaults(command, read);
  return read;
}

async function objectIn(given: string): Promise<JsonObject> {
  const [place, text] = await textIn(given);
  const value = givenJson(place, text, REMEDY);
  if (!isJsonObject(value)) throw usage(`${place} is not a JSON object; ${REMEDY}.`);
  return value;
}

async function textIn(given: string): Promise<[place: string, text: string]> {
  if (given === '-') return ['--params -', await textOf(process.stdin)];
  if (!given.startsWith('@')) return ['--params', given];
  const file = given.slice(1);
  try {
    return [`--params ${given}`, readFileSync(file, 'utf8')];
  } catch (error) {
    throw usage(
      `--params ${given} cannot be read (${error instanceof Error ? error.message : String(error)}); check the path behind the @.`,
    );
  }
}

async function refuseFaults({ name, params: schema }: ListedCommand, params: JsonObject): Promise<void> {
  if (schema === null) return;
  const { schemaFaults } = await import('../../language/params/schema-faults.ts');
  const faults = schemaFaults(schema)(params);
  if (faults.length === 0) return;
  const words = faults.map(({ path, message, taken }) => {
    const field = path.join('.');
    const near = taken === undefined ? '' : nearestOf(path.at(-1) ?? '', taken, (one) => ` (write "${one}")`);
    return `${field === '' ? 'the parameters' : `"${field}"`}: ${message}${near}`;
  });
  throw usage(`${name}: ${words.join('; ')}; "sentinel commands ${name}" shows what it takes.`);
}
