/**
 * `rag/build` collects what model steps are to know: what a recipe and a list of sources name, within a number of
 * tokens. What it collects is a row under the step's key, with what was left out and why; the model steps of a pass
 * read it from there, and a transcript shows it.
 */
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import * as z from 'zod';
import { readJson } from '../../language/expression/json-text.ts';
import { textOf } from '../../language/expression/scope.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { definitionPath } from '../../interpreter/keys.ts';
import type { LeftOut } from '../../language/models/left-out.ts';
import { defined } from '../../language/defined.ts';
import { Failure } from '../../world/failures/failures.ts';
import { fitParts } from '../../world/models/request/fit-context.ts';
import { type Command, type CommandContext, type Context, defineCommand } from '../../operations/command.ts';
import { asModel, gather, type Gathered, type Gathering, type Source } from './context-sources.ts';

const sourcesMax = 100;
const tokensUsual = 12_000;

const SourceOf = z.union([z.string(), z.strictObject({ name: z.string().min(1), value: Value })]);
const Params = z.strictObject({
  sources: z.union([z.array(SourceOf).max(sourcesMax), SourceOf.transform((one) => [one])]).optional(),
  recipe: z.string().optional(),
  /** Of what is collected. */
  tokens: z.number().int().positive().max(200_000).optional(),
  /** False: only rows hold the text. */
  withText: z.boolean().optional(),
  /** Of recipes that take a chat's last messages. */
  maxMessages: z.number().int().nonnegative().optional(),
});
type Params = z.infer<typeof Params>;

/** Recipes that need no file. */
const RECIPES: { readonly [name: string]: readonly string[] } = {
  coding: [
    'README.md',
    'AGENTS.md',
    'code',
    'code/git {"operation":"status"}',
    'code/git {"operation":"log","count":5}',
  ],
};
const recipeFiles = (name: string): string[] => [`recipes/${name}.json`, `system/recipes/${name}.json`];

interface Recipe {
  /** It is a file of the project, which a model may have written: it reads no more than a model does. */
  isFile: boolean;
  sources: readonly string[];
  tokens?: number;
}

async function build(params: Params, context: Context): Promise<JsonObject> {
  const before = await kept(context);
  if (before !== null) return resultOf(before, params);
  const given = await ownOf(params, context);
  const found = given.recipe === undefined ? null : await recipeNamed(given.recipe, context);
  const own: Gathering = { context };
  const sources = [
    ...(found?.sources ?? []).map((source: Source) => ({ source, at: found?.isFile === true ? asModel(own) : own })),
    ...given.sources.map((source) => ({ source, at: own })),
  ];
  // One after the other: a list of commands is not as many processes at once.
  const gathered: Gathered[] = [];
  for (const { source, at } of sources) gathered.push(await gather(source, at));
  const parts = gathered.flatMap((one) => one.parts);
  const room = params.tokens ?? found?.tokens ?? tokensUsual;
  const fitted = fitParts(parts, room, parts.length > 1 ? Math.ceil(room / 2) : room);
  const leftOut: LeftOut[] = [
    ...(found === null && given.recipe !== undefined ? [noRecipe(given.recipe)] : []),
    ...gathered.flatMap((one) => one.leftOut),
    ...fitted.leftOut,
    ...(params.maxMessages === undefined
      ? []
      : [{ name: 'messages', why: 'there is no chat whose messages could be read; hand them over as a source' }]),
  ];
  const message: JsonObject = {
    role: 'user',
    blocks: fitted.parts.map(({ name, text }) => ({ type: 'text', name, text })),
    put: fitted.put,
    leftOut: leftOut as unknown as Json,
    tokens: fitted.tokens,
  };
  const masked = (context.secrets?.results ?? ownMasker()).json(message);
  await context.store.conversations.add(placeOf(context), [{ turn: 0, part: 0, message: masked }]);
  return resultOf((await kept(context)) ?? message, params);
}

/** Whatever attempt of the step collected it. */
const placeOf = ({ run, key }: CommandContext): { handle: string; conversation: string } => ({
  handle: run.handle,
  conversation: definitionPath(key),
});

/** What an earlier attempt has collected stands: nothing may be decided upon anything else. */
async function kept(context: CommandContext): Promise<JsonObject | null> {
  const [row] = await context.store.conversations.read(placeOf(context));
  return row?.message ?? null;
}

function resultOf({ blocks, put = [], leftOut = [], tokens = 0 }: JsonObject, { withText = true }: Params): JsonObject {
  const texts = (Array.isArray(blocks) ? blocks.filter(isJsonObject) : []).map(
    ({ name, text }) => `--- ${textOf(name)}\n${textOf(text)}`,
  );
  return { ...(withText ? { text: texts.join('\n\n') } : {}), tokens, sources: put, leftOut };
}

/** Without sources of its own it collects those of the definition. */
async function ownOf(params: Params, { store, run }: CommandContext): Promise<{ recipe?: string; sources: Source[] }> {
  const { recipe, sources } = params;
  if (recipe !== undefined || sources !== undefined) return { ...defined({ recipe }), sources: sources ?? [] };
  const definition = (await store.definitions.find(run.definitionHash))?.definition;
  return {
    ...(definition?.recipe === undefined ? {} : { recipe: definition.recipe }),
    sources: definition?.ragSources ?? [],
  };
}

const noRecipe = (name: string): LeftOut => ({
  name: `recipe ${name}`,
  why: `there is no such recipe; the recipes are ${Object.keys(RECIPES).join(', ')}, and files such as ${recipeFiles(name)[0] ?? ''} in the project`,
});

/** Null where nobody knows it. A project's own goes first. */
async function recipeNamed(name: string, context: Context): Promise<Recipe | null> {
  for (const path of /^[\w-]+$/.test(name) ? recipeFiles(name) : []) {
    const text = await textAt(path, context);
    if (text === null) continue;
    const read = RecipeFile.safeParse(readJson(text));
    const sources = read.data?.sources ?? read.data?.ragSources ?? read.data?.ragTemplate?.sources;
    if (sources !== undefined)
      return { isFile: true, sources, ...(read.data?.tokens === undefined ? {} : { tokens: read.data.tokens }) };
    throw new Failure(
      'FILE_NOT_USABLE',
      `"${path}" is no recipe; write {"sources": ["README.md", "data:reviews"], "tokens": ${tokensUsual}}`,
    );
  }
  const known = Object.hasOwn(RECIPES, name) ? RECIPES[name] : undefined;
  return known === undefined ? null : { isFile: false, sources: known };
}

const Sources = z.array(z.string()).max(sourcesMax).optional();
const RecipeFile = z.looseObject({
  sources: Sources,
  ragSources: Sources,
  ragTemplate: z.looseObject({ sources: Sources }).optional(),
  tokens: z.number().int().positive().optional(),
});

async function textAt(path: string, context: Context): Promise<string | null> {
  try {
    const value = await context.call('code/read', { path });
    return isJsonObject(value) && typeof value['content'] === 'string' ? value['content'] : null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

const Row = z.custom<JsonObject>((value) => isJsonObject(value));

export const ragCommands: Command[] = [
  defineCommand({
    name: 'rag/build',
    description:
      'Collects what a task has to know from files, records and commands that read, within a number of tokens.',
    permission: 'read',
    speed: 'long',
    textField: 'text',
    params: Params,
    result: Row,
    run: build,
    predict: () => ({
      text: 'collects what models are told',
      source: 'assumed',
      result: { text: '', tokens: 0, sources: [], leftOut: [] },
    }),
  }),
];
