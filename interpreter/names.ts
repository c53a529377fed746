/**
 * What a name in a definition means at one place of a run: built-ins, then the strand's own
 * variables, then the scopes around it, then the run's inputs and inherited variables; and where no
 * variable is called that, results of steps (`steps`, `loop`, `named`, a label) and `env`.
 */
import { type Json, type JsonObject, isJsonObject } from '../language/json.ts';
import { property, STEP_FIELDS, type ScopeReader, textOf, type Fault } from '../language/expression/scope.ts';
import type { Strand, RunInput } from './host.ts';
import { bodyAround, keptResultsOf, resultsUnder } from './results.ts';
import type { Walk } from './walk-state.ts';
import { definitionPathOf } from './edited-paths.ts';
import { entryOf, SHELL_COMMAND, shellLineOf } from '../language/catalogue.ts';
import type { CommandStep, Definition } from '../language/model.ts';
import { isNameOfRun } from './names-set.ts';
import { readsField } from './program.ts';
import { interpolateText, interpolateValue } from '../language/references/interpolation.ts';
import { renderShellLine } from '../language/references/shell-line.ts';

/** `path`: the step or the loop that reads; `loop.0` counts from where the nearest loop around it begins. */
export function namesAt(walk: Walk, strand: Strand, passes: readonly number[], path: string): ScopeReader {
  const result = (label: string): Json | undefined => variable(walk, strand, `@named.${label}`);
  const get = (name: string): Json | undefined => {
    const value = builtIn(walk, passes, name) ?? variable(walk, strand, name);
    if (value !== undefined) return value;
    // A variable that is not set is nothing, though fields of the step that would set it be kept.
    return (
      ofSteps(walk, strand, path, name) ??
      (keptResultsOf(walk.input.definition).variables.has(name) ? undefined : result(name))
    );
  };
  return {
    get,
    result,
    has: (name) => get(name) !== undefined,
    isOfRun: (name) => isNameOfRun(walk.input, name) && walk.input.definition.env?.includes(name) !== true,
    textField: (name) => walk.textFields.get(name),
    stepField: (label, field) => (STEP_FIELDS.has(field) ? property(result(label), field) : undefined),
  };
}

function variable(walk: Walk, strand: Strand, name: string): Json | undefined {
  if (Object.hasOwn(strand.own, name)) return strand.own[name];
  for (const scope of strand.outer) {
    if (Object.hasOwn(scope, name)) return scope[name];
  }
  return Object.hasOwn(walk.input.base, name) ? walk.input.base[name] : undefined;
}

function builtIn(walk: Walk, passes: readonly number[], name: string): Json | undefined {
  switch (name) {
    case 'NOW':
      return new Date(walk.host.now()).toISOString();
    case 'ELAPSED_MS':
      return walk.host.now() - walk.input.startedAt;
    case 'PROJECT_ROOT':
      return walk.input.project;
    case 'PERSONA_ID':
      return walk.input.persona;
    case 'RUN_HANDLE':
      return walk.input.handle;
    case 'RUN_NAME':
      return walk.input.definition.name;
    case 'iteration':
      return passes.at(-1) ?? 0;
    case 'input':
      return { ...walk.input.base, iteration: passes.at(-1) ?? 0 };
    case 'env':
      // What a definition lists is the environment, whatever the runs around it call their variables.
      return walk.input.definition.env === undefined ? undefined : environmentOf(walk);
    default:
      return undefined;
  }
}

function ofSteps(walk: Walk, strand: Strand, path: string, name: string): JsonObject | undefined {
  const read = (key: string): Json | undefined => variable(walk, strand, key);
  switch (name) {
    case 'steps':
      return resultsUnder('@steps.', walk, read);
    case 'loop':
      return resultsUnder(`@${bodyAround(definitionPathOf(walk, path))}.`, walk, read);
    case 'named':
      return resultsUnder('@named.', walk, read);
    case 'env':
      return environmentOf(walk);
    default:
      return undefined;
  }
}

/** Only what the definition lists; the values are those of when the run was started. */
function environmentOf({ input: { definition, env = {} } }: Walk): JsonObject {
  const listed = (definition.env ?? []).filter((name) => Object.hasOwn(env, name));
  return Object.fromEntries(listed.map((name) => [name, env[name] ?? null]));
}

/**
 * The parameters of a command with their references in place. Most are values; some are read as what
 * they are: text, a line for the shell, or a program whose references are not this run's.
 */

/** Collects what the references of one step ran into. */
export class Reader {
  readonly unresolved = new Set<string>();
  /** Those of command lines: without them the line would be another. */
  readonly missing = new Set<string>();
  fault: Fault | undefined;
  private readonly scope: ScopeReader;

  constructor(scope: ScopeReader) {
    this.scope = scope;
  }

  private note(result: { unresolved: string[]; faults: Fault[] }): void {
    for (const name of result.unresolved) this.unresolved.add(name);
    this.fault ??= result.faults[0];
  }

  value(raw: Json): Json {
    const result = interpolateValue(raw, this.scope);
    this.note(result);
    return result.value;
  }

  object(raw: JsonObject | undefined): JsonObject {
    const value = this.value(raw ?? {});
    return isJsonObject(value) ? value : {};
  }

  /** What a program gets of a value: a result that is referred to gives its text. */
  asText(raw: Json): string {
    const isTemplate = typeof raw === 'string' && !/^\s*(?:\[|\{(?!\{))/.test(raw);
    return isTemplate ? this.text(raw) : textOf(this.value(raw));
  }

  text(raw: string): string {
    const result = interpolateText(raw, this.scope);
    this.note(result);
    return result.text;
  }

  /** `own`: variables that the step gives its process. */
  shellLine(
    raw: string,
    own: readonly string[] = [],
  ): Omit<ReturnType<typeof renderShellLine>, 'unresolved' | 'faults'> {
    const isOfRun = (name: string): boolean => this.scope.isOfRun?.(name) === true && !own.includes(name);
    const { line, env, files, unresolved, faults } = renderShellLine(raw, { ...this.scope, isOfRun });
    this.note({ unresolved, faults });
    for (const name of unresolved) this.missing.add(name);
    return { line, env, files };
  }
}

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
  return command === SHELL_COMMAND && name === 'command' && params?.['args'] !== undefined;
}

/** What has no value stays null, for the command to refuse: a file is not emptied because a name was mistyped. */
function textIn(raw: Json, reader: Reader): Json {
  return reader.value(raw) === null ? null : reader.asText(raw);
}

/** As in a shell step, data never becomes code: it travels in the environment. */
function withLine(command: string, read: JsonObject, written: string, reader: Reader): JsonObject {
  const own = read['env'] ?? {};
  const { line, env, files } = reader.shellLine(written, isJsonObject(own) ? Object.keys(own) : []);
  if (Object.keys(files).length > 0)
    reader.fault ??= {
      code: 'VALUE_TOO_LARGE',
      message:
        'what the command line refers to is too large for its environment; use a shell step, or hand it over as "stdin"',
    };
  if (Object.keys(env).length === 0) return { ...read, command: line };
  if (command !== SHELL_COMMAND) return withRun(read, line, env);
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
  const isStarted = command === SHELL_COMMAND && params?.['wait'] === false;
  return isStarted && outputTo !== undefined && readsField(definition, outputTo, 'port') ? { port: true } : {};
}
