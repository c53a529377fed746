/**
 * The parameters of a command with their references in place. Most are values; some are read as what
 * they are: text, a line for the shell, or a program whose references are not this run's.
 */
import { entryOf, shellLineOf } from '../language/catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { CommandStep, Definition } from '../language/model.ts';
import type { RunInput } from './host.ts';
import type { Reader } from './effects.ts';
import { readsField } from './program.ts';

type Known = Pick<RunInput, 'definition' | 'catalogue'>;

export function paramsOf({ definition, catalogue }: Known, step: CommandStep, reader: Reader): JsonObject {
  const { command, params = {} } = step;
  const line = shellLineOf(catalogue, step);
  const { programParams = [], textParams = [] } = entryOf(catalogue, command);
  const entries = Object.entries(params).map(([name, raw]): [string, Json] => {
    if (programParams.includes(name) && typeof raw !== 'string') return [name, raw];
    if (name === 'command' && line !== undefined) return [name, line];
    return [name, textParams.includes(name) || isProgramName(step, name) ? textIn(raw, reader) : reader.value(raw)];
  });
  const read = { ...portOf(definition, step), ...Object.fromEntries(entries) };
  return line === undefined ? read : withLine(command, read, line, reader);
}

/** Beside `args`, which no shell reads, `command` names a program. */
function isProgramName({ command, params }: CommandStep, name: string): boolean {
  return command === 'code/shell/execute' && name === 'command' && params?.['args'] !== undefined;
}

/** What has no value stays null, for the command to refuse: a file is not emptied because a name was mistyped. */
function textIn(raw: Json, reader: Reader): Json {
  return reader.value(raw) === null ? null : reader.asText(raw);
}

/** As in a shell step, data never becomes code: it travels in the environment. */
function withLine(command: string, read: JsonObject, written: string, reader: Reader): JsonObject {
  const { line, env, files } = reader.shellLine(written);
  if (Object.keys(files).length > 0)
    reader.fault ??= {
      code: 'VALUE_TOO_LARGE',
      message:
        'what the command line refers to is too large for its environment; use a shell step, or hand it over as "stdin"',
    };
  if (Object.keys(env).length === 0) return { ...read, command: line };
  if (command !== 'code/shell/execute') return withRun(read, line, env);
  const own = read['env'] ?? {};
  return { ...read, command: line, ...(isJsonObject(own) ? { env: { ...env, ...own } } : {}) };
}

/** The run gets the data as inputs, which nothing reads as templates again, under names that its own lines do not use. */
function withRun(
  { command: _command, inputs, ...read }: JsonObject,
  line: string,
  env: { [name: string]: string },
): JsonObject {
  const given = Object.fromEntries(
    Object.entries(env).map(([name, text]) => [name.replace('SENTINEL_', 'SENTINEL_GIVEN_'), text]),
  );
  const command = line.replaceAll(/\$\{SENTINEL_(?=\d+\})/g, '${SENTINEL_GIVEN_');
  const step = {
    type: 'shell',
    command,
    env: Object.fromEntries(Object.keys(given).map((name) => [name, `$${name}`])),
  };
  const definition = { name: 'command', steps: [step], loop: { type: 'once' } };
  return { ...read, definition, inputs: { ...(isJsonObject(inputs) ? inputs : {}), ...given } };
}

/** A process whose port the definition reads is waited for until it serves one. */
function portOf(definition: Definition, { command, params, outputTo }: CommandStep): { port?: true } {
  const isStarted = command === 'code/shell/execute' && params?.['wait'] === false;
  return isStarted && outputTo !== undefined && readsField(definition, outputTo, 'port') ? { port: true } : {};
}
