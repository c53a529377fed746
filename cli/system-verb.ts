/** `sentinel SYSTEM VERB …`: the verbs that systems state, ours and those of a project, each of which performs a command of its system. */
import { type Command, Option } from 'commander';
import type { ListedCommand } from '../client/lookup/command-list.ts';
import { durationText } from '../client/show/trace.ts';
import { defined } from '../language/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { Definition } from '../language/model.ts';
import type { Run, Verb } from '../operations/system.ts';
import { configFileOf } from '../services/config/project-file.ts';
import type { ProjectSystem } from '../services/commands/own-systems.ts';
import { builtInOutline, type SystemOutline } from '../systems/catalogue.ts';
import { openOutput, type Output } from './output/output.ts';
import { givenJson } from './request/given-json.ts';
import { projectConfig } from './request/project-config.ts';
import { speakerHere, speakerOption } from './request/speaker.ts';
import { declareKind } from './request/verb-kind.ts';
import { withClient } from './request/with-client.ts';

export interface SystemWithVerbs {
  name: string;
  summary: string;
  verbs: { readonly [verb: string]: Verb };
  run?: Run;
  commands: readonly ListedCommand[];
}

export interface SystemsHere {
  /** The system of that name, where it has verbs. */
  system: SystemWithVerbs | null;
  /** What keeps those of the project from being known, as a sentence. */
  hint: string;
}

/** Of those that come with the engine, else of the project in whose folder one is, where its configuration is trusted. */
export async function systemNamed(name: string, json: boolean): Promise<SystemsHere> {
  const { builtInList, systemList } = await import('../client/lookup/command-list.ts');
  const ours = verbsOfEngine().find((system) => system.name === name);
  if (ours !== undefined)
    return { system: { ...ours, commands: builtInList().filter(({ system }) => system === name) }, hint: '' };
  const project = process.cwd();
  if (configFileOf(project) === null) return { system: null, hint: '' };
  const { config } = await projectConfig(project, openOutput({ json }), false);
  const found = config?.systems.find((system) => system.name === name);
  return {
    system: found === undefined || !hasVerbs(found) ? null : { ...outlineOf(found), commands: systemList(found) },
    hint: config === null ? ' The verbs of this project are not known before you trust it: "sentinel trust".' : '',
  };
}

const hasVerbs = ({ verbs, run }: Pick<ProjectSystem | SystemOutline, 'verbs' | 'run'>): boolean =>
  Object.keys(verbs).length > 0 || run !== undefined;

const outlineOf = ({ name, summary, verbs, run }: ProjectSystem): Omit<SystemWithVerbs, 'commands'> => ({
  name,
  summary,
  verbs,
  ...defined({ run }),
});

/** The systems that come with the engine and state verbs. */
export const verbsOfEngine = (): SystemOutline[] => builtInOutline().filter(hasVerbs);

interface Field {
  type?: string;
  anyOf?: { type?: string }[];
  description?: string;
  default?: Json;
}

interface Shape {
  fields: { [name: string]: Field };
  required: readonly string[];
}

export function defineSystemVerbs(parent: Command, { name, summary, verbs, commands }: SystemWithVerbs): void {
  parent.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  for (const [verb, { summary: line, command, args = [], starts }] of Object.entries(verbs)) {
    const own = commands.find((one) => one.name === command);
    if (own === undefined) throw new Error(`bug: the verb "${verb}" has no command`);
    const { properties = {}, required = [] } = (own.params ?? {}) as {
      properties?: Shape['fields'];
      required?: string[];
    };
    const shape: Shape = { fields: properties, required };
    const made = parent
      .command(verb)
      .summary(line)
      .description(`${own.description ?? line} Performs the command ${command}.`)
      .helpOption('-h, --help', 'show this')
      .option('--json', 'print JSON alone on stdout')
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    const kind = own.permission === 'read' && own.speed === 'quick' ? 'looks' : 'acts';
    declareKind(made, (options) => ('run' in options ? 'acts' : kind));
    if (starts !== undefined) made.option('--run', 'run the first definition that is found, and follow it');
    for (const arg of args)
      made.argument(required.includes(arg) ? `<${arg}>` : `[${arg}]`, properties[arg]?.description);
    for (const [param, field] of Object.entries(properties))
      if (!args.includes(param)) made.addOption(optionOf(param, field, required.includes(param)));
    made.addOption(speakerOption('--as <persona>', 'who performs it'));
    made.action(async (...given: unknown[]) => {
      const words = given.slice(0, args.length) as (string | undefined)[];
      const typed = given[args.length] as { [option: string]: unknown } & Options;
      // It may stand before the verb as well.
      const options = { ...defined({ json: parent.opts<Options>().json }), ...typed };
      const asked = { verb: `${name} ${verb}`, own, params: paramsOf(shape, args, words, options) };
      if (starts !== undefined && options.run === true) process.exitCode = await runFound(asked, starts, options);
      else await act(asked, options);
    });
  }
}

function optionOf(param: string, { type, description = '' }: Field, isRequired: boolean): Option {
  const option = new Option(type === 'boolean' ? `--${flag(param)}` : `--${flag(param)} <value>`, description);
  return option.makeOptionMandatory(isRequired && type !== 'boolean');
}

/** `maxLength` is `--max-length`. */
export const flag = (param: string): string => param.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function paramsOf(
  { fields }: Shape,
  args: readonly string[],
  words: readonly (string | undefined)[],
  options: { [option: string]: unknown },
): JsonObject {
  const given: [string, unknown][] = Object.keys(fields).map((param) => {
    const at = args.indexOf(param);
    return [param, at === -1 ? options[camel(flag(param))] : words[at]];
  });
  return Object.fromEntries(
    given.flatMap(([param, value]) =>
      value === undefined
        ? []
        : [[param, typeof value === 'string' ? read(param, value, fields[param]) : (value as Json)]],
    ),
  );
}

/** As commander names the value of an option. */
const camel = (name: string): string => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What is no text in the parameters is written as JSON. */
function read(param: string, text: string, { type, anyOf = [] }: Field = {}): Json {
  const types = type === undefined ? anyOf.flatMap((one) => one.type ?? []) : [type];
  if (types.length === 0 || types.includes('string')) return text;
  return givenJson(
    `--${flag(param)}`,
    text,
    `it takes a value of the type ${types.map((one) => `"${one}"`).join(' or ')}`,
  );
}

interface Options {
  json?: boolean;
  as?: string;
  run?: boolean;
}

type Starts = NonNullable<Verb['starts']>;

/** A content hash. */
const DEFINITION_ID = /^[0-9a-f]{64}$/;

interface Asked {
  verb: string;
  own: ListedCommand;
  params: JsonObject;
}

/** The exit code of the run. */
async function runFound({ own, params }: Asked, starts: Starts, options: Options): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const by = await speakerHere(options.as, output);
  const [{ performCommand }, { watchRun }, { ClientError }] = await Promise.all([
    import('../client/perform.ts'),
    import('./following/watch-run.ts'),
    import('../runs/client-error.ts'),
  ]);
  const ran = await withClient(output, async (client) => {
    const found = await performCommand(client, own.name, params, { by });
    const first = firstIn(found, starts);
    if (first === null)
      throw new ClientError('NOT_FOUND', `${own.name} found no definition; ask in other words, or look without --run.`);
    if (typeof first === 'string') return { saved: first };
    const { handle } = await client.start(first as unknown as Definition, { project: process.cwd(), persona: by });
    return watchRun(client, handle, output);
  });
  if (typeof ran === 'number') return ran;
  const { run } = await import('./verbs/run.ts');
  return run(ran.saved, { ...defined({ json: options.json }), project: '.', input: [], persona: by });
}

/** A definition, or the id of a saved one. */
function firstIn(found: Json, { definition, id }: Starts): JsonObject | string | null {
  for (const item of Array.isArray(found) ? found : []) {
    const [written, saved] = [definition, id].map((path) =>
      path.reduce<Json>((value, name) => (isJsonObject(value) ? (value[name] ?? null) : null), item),
    );
    if (isJsonObject(written)) return written;
    if (typeof saved === 'string' && DEFINITION_ID.test(saved)) return saved;
  }
  return null;
}

async function act({ verb, own, params }: Asked, options: Options): Promise<void> {
  const output = openOutput(options);
  if (own.permission !== 'read') {
    const [{ isWithinStep }, { ClientError }] = await Promise.all([
      import('../client/rights/within-step.ts'),
      import('../runs/client-error.ts'),
    ]);
    if (await isWithinStep())
      throw new ClientError(
        'ANSWER_REFUSED',
        `A run does not write in a person's name: "sentinel ${verb}" is a person's. Make ${own.name} a step.`,
      );
  }
  const by = await speakerHere(options.as, output);
  if (own.speed === 'long') {
    process.exitCode = await inRun(own.name, params, by, output);
    return;
  }
  const { performCommand } = await import('../client/perform.ts');
  const result = await withClient(output, (client) => performCommand(client, own.name, params, { by }));
  output.object({ ok: true, command: own.name, result });
  for (const line of shown(result, own.textField)) output.line(line);
}

async function inRun(command: string, params: JsonObject, by: string, output: Output): Promise<number> {
  const [{ performInRun }, { commandNamed, knownCommands }] = await Promise.all([
    import('./verbs/command.ts'),
    import('./request/known-commands.ts'),
  ]);
  const project = process.cwd();
  const listed = commandNamed(command, await knownCommands(project, output, true));
  return performInRun(listed, { command, params, project, by }, {}, output);
}

/** The text of the result, one line for each of a list, else JSON. */
export function shown(result: Json, textField: string | null): string[] {
  if (result === null) return ['done.'];
  if (Array.isArray(result)) return result.map((one) => lineOf(one));
  if (typeof result === 'object' && textField !== null && typeof result[textField] === 'string')
    return result[textField].split('\n');
  return typeof result === 'object' ? JSON.stringify(result, null, 2).split('\n') : [String(result)];
}

/** Of an object, the fields that say something. */
const lineOf = (value: Json): string =>
  isJsonObject(value)
    ? Object.entries(value)
        .filter(([, one]) => one !== null)
        .map(([field, one]) => `${field}: ${fieldText(field, one)}`)
        .join('  ')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);

/** A later number is no count of anything else that systems list; a still later one is in another unit, nanoseconds say. */
const earliestMs = Date.UTC(2000);
const latestMs = Date.UTC(2200);

/** Times and durations as people read them; `--json` has the milliseconds. */
function fieldText(field: string, value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return JSON.stringify(value);
  if (/(?:At|^timestamp)$/.test(field) && value > earliestMs && value < latestMs) return new Date(value).toISOString();
  return field.endsWith('Ms') ? durationText(value) : String(value);
}
