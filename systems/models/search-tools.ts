/** `search_tools`: finds commands by words, with all that whoever calls them has to know. */
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import { permissionOfCommand, refusalOf } from '../../language/permissions.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { parametersOf } from '../../operations/parameters.ts';

const Params = z.strictObject({
  query: z.string().trim().min(1).describe('what it should do, in words'),
  limit: z.number().int().positive().max(COMMAND_BOUNDS.toolsMax).default(10),
});

type Tool = {
  name: string;
  description: string;
  permission: string;
  parameters: JsonObject;
  /** Why the mode of the run refuses it. */
  refused?: string;
};

const Result = z.strictObject({
  tools: z.array(z.custom<Tool>((tool) => isJsonObject(tool as Json))),
  count: z.number(),
  text: z.string(),
});

async function search({ query, limit }: z.infer<typeof Params>, context: Context) {
  const words = wordsOf(query);
  const ranked = context.commands
    .all()
    .map((command) => ({ command, score: scoreOf(command, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.command.name < b.command.name ? -1 : 1));
  const tools = ranked.slice(0, limit).map(({ command }) => toolOf(command, context));
  const lines = tools.map(({ name, description }) => `${name}: ${description}`);
  return { tools, count: ranked.length, text: lines.length === 0 ? 'no command is about this' : lines.join('\n') };
}

function toolOf(command: Command, { confinement, commands: { catalogue } }: Context): Tool {
  const { name, description = `Runs the command ${name}.` } = command;
  const permission = permissionOfCommand(catalogue, name, {});
  const refused = refusalOf(catalogue, confinement?.mode, { permission, command: name });
  return {
    name,
    description,
    permission,
    parameters: parametersOf(command),
    ...(refused === null ? {} : { refused }),
  };
}

const EVERYDAY = new Set(['a', 'an', 'and', 'the', 'to', 'of', 'in', 'for', 'with', 'or', 'is', 'it', 'that', 'i']);

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !EVERYDAY.has(word));

/** A word in the name says most, one of the parameters least. */
function scoreOf({ name, description = '', ...command }: Command, words: readonly string[]): number {
  const { properties } = parametersOf({ name, ...command });
  const fields = isJsonObject(properties) ? Object.keys(properties).flatMap(wordsOf) : [];
  const places: [string[], number][] = [
    [wordsOf(name), 6],
    [wordsOf(description), 3],
    [fields, 1],
  ];
  return words.reduce(
    (sum, word) => sum + Math.max(...places.map(([known, weight]) => weight * likeness(word, known))),
    0,
  );
}

const stemLengthMin = 4;

/** 1 for the word itself, half for one that begins like it: "edits" and "edit". */
function likeness(word: string, known: readonly string[]): number {
  if (known.includes(word)) return 1;
  const isAlike = (other: string): boolean =>
    Math.min(word.length, other.length) >= stemLengthMin && (other.startsWith(word) || word.startsWith(other));
  return known.some(isAlike) ? 0.5 : 0;
}

export const toolCommands: Command[] = [
  defineCommand({
    name: 'search_tools',
    description: 'Finds commands by words that say what they should do, with their parameters.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: Params,
    result: Result,
    run: search,
  }),
];
