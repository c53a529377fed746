/** `sentinel SYSTEM WORDS …`: starts a run of the definition that a system states, with its inputs as words and options. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Command, Option } from 'commander';
import { filesOfProject } from '../client/read-definition.ts';
import { declaredInputs, type DeclaredInput } from '../language/inputs/declared-inputs.ts';
import type { Json } from '../language/json.ts';
import type { Run } from '../operations/system.ts';
import { ConfigError } from '../services/home/config-error.ts';
import { openOutput } from './output/output.ts';
import { projectConfig } from './request/project-config.ts';
import { noVerbOf } from './request/subverbs.ts';
import { declareKind } from './request/verb-kind.ts';
import { flag } from './system-verb.ts';
import { addRunOptions, ENDS_WITH, run, type RunOptions } from './verbs/run.ts';

export async function defineSystemRun(parent: Command, { definition, args = [] }: Run, argv: readonly string[]) {
  const inputs = await inputsOf(definition, argv);
  // What the definition does not declare, or cannot be read to declare, the run itself refuses.
  const words = args.map((name) => inputs.find((input) => input.name === name) ?? { name, isNeeded: false });
  parent
    .description(
      `${parent.description()} With ${words.map(({ name }) => `<${name}>`).join(' ')}, it runs "${definition}" and follows it to its end. One word alone is taken for a verb unless "--" stands before it. ${ENDS_WITH}`,
    )
    // A verb has options of its own, of which some are called like these.
    .enablePositionalOptions();
  for (const { name, description, isNeeded } of words)
    parent.argument(isNeeded ? `<${name}>` : `[${name}]`, description);
  addRunOptions(parent);
  const taken = ['--help', ...parent.options.map(({ long }) => long)];
  const others = inputs
    .filter(({ name }) => !args.includes(name))
    .map((input) => ({ input, option: `--${flag(input.name)}` }))
    .filter(({ option }) => OPTION.test(option) && !taken.includes(option))
    .map(({ input, option }) => ({ input, option: optionOf(input, option) }));
  for (const { option } of others) parent.addOption(option);
  declareKind(parent, 'acts');
  parent.action(async (...given: unknown[]) => {
    const said = given.slice(0, words.length) as (string | undefined)[];
    const options = given[words.length] as RunOptions & { [option: string]: unknown };
    refuseMistyped(parent, said[0], argv);
    const values = [
      ...words.map((input, at) => ({ input, value: said[at] })),
      ...others.map(({ input, option }) => ({ input, value: options[option.attributeName()] })),
    ];
    const assigned = values.flatMap(({ input, value }) =>
      value === undefined ? [] : [`${input.name}=${written(input, value)}`],
    );
    process.exitCode = await run(definition, { ...options, input: [...options.input, ...assigned] });
  });
}

/** What else an input is called is given with --input: "--no-x" would take "--x" back. */
const OPTION = /^--(?!no-)[^-]/;

/** Of the definition that would run in the project. */
async function inputsOf(definition: string, argv: readonly string[]): Promise<DeclaredInput[]> {
  const { values } = parseArgs({
    args: [...argv],
    options: { project: { type: 'string', default: '.' } },
    strict: false,
    allowPositionals: true,
  });
  const project = resolve(String(values.project));
  const use = await projectConfig(project, openOutput({}), false).catch((error: unknown) => {
    // The run says what is wrong with it.
    if (error instanceof ConfigError) return null;
    throw error;
  });
  const found = filesOfProject(project, use?.commands).known(definition);
  return found === undefined ? [] : declaredInputs(found);
}

/** `--max-files VALUE`, of a list `--context VALUE…`. Whether one is missing, the run says. */
function optionOf(input: DeclaredInput, option: string): Option {
  const { description = '', default: value, isNeeded } = input;
  const otherwise = value === undefined || value === '' ? '' : ` (default: ${JSON.stringify(value)})`;
  const types = typesOf(input);
  const holds = types[0] === 'boolean' ? '' : types[0] === 'array' ? ' <values...>' : ' <value>';
  return new Option(
    `${option}${types.length === 1 ? holds : ' <value>'}`,
    `${description}${isNeeded && value === undefined ? ' (needed)' : otherwise}`,
  );
}

/** Whoever mistypes a verb starts nothing. */
function refuseMistyped(parent: Command, word: string | undefined, argv: readonly string[]): void {
  if (word === undefined || /\s/.test(word.trim()) || parent.commands.length === 0) return;
  const behind = argv.includes('--') ? argv.length - argv.indexOf('--') - 1 : 0;
  if (parent.args.length > behind) throw noVerbOf(parent, word);
}

const wordsIn = (types: string): string[] => types.split(' or ');

const typeOf = (value: Json): string => (Array.isArray(value) ? 'array' : typeof value);

/** As declared, else as the default is; none where neither says it. */
function typesOf({ type, default: value = null }: DeclaredInput): string[] {
  if (type !== undefined) return wordsIn(type);
  return value === null ? [] : [typeOf(value)];
}

function itemTypesOf({ items, default: value }: DeclaredInput): string[] {
  if (items !== undefined) return wordsIn(items);
  return Array.isArray(value) && value.length > 0 ? value.map(typeOf) : ['string'];
}

/** As an input is assigned: a text stays the text that it is, and what else it may be is read. */
function written(input: DeclaredInput, value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => writtenAs(itemTypesOf(input), String(item))).join(',')}]`;
  const isText = typeof value === 'string' && typesOf(input).includes('string');
  return isText ? JSON.stringify(value) : String(value);
}

/** One of a list, as JSON. */
const writtenAs = (types: readonly string[], text: string): string =>
  types.includes('string') || !isJson(text) ? JSON.stringify(text) : text;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
