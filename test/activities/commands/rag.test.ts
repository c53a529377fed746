/** What is collected for models, and definitions that a run saves. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const opened = useStore();
const registry = builtInRegistry();

async function projectWith(files: { [path: string]: string }): Promise<string> {
  const project = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  return project;
}

let steps = 0;

async function run(
  name: string,
  params: JsonObject,
  { project, ...over }: Partial<CommandContext> & { project: string },
): Promise<JsonObject> {
  steps += 1;
  const session = opened.store.session();
  const context = commandContext(project, { store: opened.store, session, key: `steps.${steps}@1`, ...over });
  try {
    return (await registry.run(name, params, context)) as JsonObject;
  } finally {
    await session.close();
  }
}

const build = (params: JsonObject, at: Partial<CommandContext> & { project: string }): Promise<JsonObject> =>
  run('rag/build', params, at);

const namesIn = (value: Json | undefined): Json[] => (value as JsonObject[]).map(({ name }) => name ?? null);

test('files, records, commands that read, values and an outline are collected; what cannot be is named, with the reason', async () => {
  const project = await projectWith({
    'README.md': 'what it is for',
    'src/a.ts': 'export const a = 1;',
    'src/inner/b.ts': 'export const b = 2;',
    'src/c.md': 'not code',
    'node_modules/x/index.ts': 'not ours',
    '.gitignore': 'ignored.ts\n',
    'ignored.ts': 'not kept',
    'src/binary.ts': 'a\0b',
  });
  const at = { project };
  const session = opened.store.session();
  const context = commandContext(project, { store: opened.store, session });
  await registry.run('data/create', { collection: `reviews-${project}`, data: { verdict: 'good' } }, context);
  await session.commit({ handle: context.run.handle, key: 'a', result: null, events: [] });
  await session.close();
  const result = await build(
    {
      sources: [
        'README.md',
        'src/**/*.ts',
        `data:reviews-${project}`,
        'code',
        'health-check',
        { name: 'build', value: { errors: 2 } },
        'memory',
        'memory:how it began',
        'missing.md',
        '../outside.md',
        'code/write {"path":"a","content":"b"}',
        'code/git not json',
        'data:nothing-here',
        'code/shell/execute {"command":"touch written"}',
      ],
    },
    at,
  );
  expect(namesIn(result['sources'])).toEqual([
    'file README.md',
    'file src/a.ts',
    'file src/inner/b.ts',
    `data:reviews-${project}`,
    'code (the files of the project)',
    'health-check',
    'build',
  ]);
  for (const text of ['what it is for', 'export const b = 2;', '"verdict":"good"', '{"errors":2}', 'src/c.md'])
    expect(result['text']).toContain(text);
  for (const text of ['not ours', 'not kept', 'node_modules']) expect(result['text']).not.toContain(text);
  const leftOut = Object.fromEntries(
    (result['leftOut'] as { name: string; why: string }[]).map(({ name, why }) => [name, why]),
  );
  expect(leftOut).toMatchObject({
    memory: 'nothing is remembered',
    'memory:how it began': 'nothing that is remembered is close to it',
    'missing.md': expect.stringContaining('does not exist') as string,
    '../outside.md': expect.stringContaining('out of the project') as string,
    'code/write {"path":"a","content":"b"}': expect.stringContaining('"write"') as string,
    'code/git not json': expect.stringContaining('no JSON object') as string,
    'data:nothing-here': expect.stringContaining('no records') as string,
    'code/shell/execute {"command":"touch written"}': expect.stringContaining('may only read') as string,
    'file src/binary.ts': expect.stringContaining('NUL') as string,
  });
});

test('a number of tokens bounds it, and no part takes the room of all others', async () => {
  const project = await projectWith({
    'a.md': 'a '.repeat(10_000),
    'b.md': 'b '.repeat(10_000),
    'c.md': 'c '.repeat(10_000),
  });
  const result = await build({ sources: ['*.md'], tokens: 1000 }, { project });
  expect(result['tokens']).toBeLessThanOrEqual(1000);
  expect((result['text'] as string).length).toBeLessThan(4800);
  expect(result['sources']).toMatchObject([
    { name: 'file a.md', cut: true },
    { name: 'file b.md', cut: true },
  ]);
  expect(namesIn(result['leftOut'])).toEqual(['file c.md']);
});

test('what was collected for a step stands, whatever there is by then, and rows hold it without a copy in the run', async () => {
  const project = await projectWith({ 'a.md': 'first' });
  const at = {
    project,
    key: 'context.0@1',
    run: { handle: `kept-${project}`, project, persona: 'ada', definitionHash: 'none' },
  };
  const params = { sources: ['a.md'], withText: false };
  const first = await build(params, at);
  expect(first).toEqual({
    tokens: expect.any(Number) as number,
    sources: [expect.objectContaining({ name: 'file a.md' })],
    leftOut: [],
  });
  writeFileSync(join(project, 'a.md'), 'second');
  expect(await build(params, { ...at, key: 'context.0#2@1' })).toEqual(first);
  const [row] = await opened.store.conversations.read({ handle: at.run.handle, conversation: 'context.0@1' });
  expect(row?.message['blocks']).toEqual([{ type: 'text', name: 'file a.md', text: 'first' }]);
});

test('a recipe is a file of the project, or one that is known; a name that leads nowhere is said', async () => {
  const project = await projectWith({
    'README.md': 'what it is for',
    'recipes/own.json': '{"sources": ["notes.md"], "tokens": 500}',
    'recipes/bad.json': '{"steps": []}',
    'system/recipes/theirs.json': '{"ragTemplate": {"sources": ["notes.md", "memory"]}}',
    'notes.md': 'to be noted',
  });
  expect((await build({ recipe: 'own' }, { project }))['text']).toBe('--- file notes.md\nto be noted');
  expect(namesIn((await build({ recipe: 'theirs' }, { project }))['leftOut'])).toEqual(['memory']);
  expect(namesIn((await build({ recipe: 'coding' }, { project }))['sources'])).toContain('file README.md');
  const unknown = await build({ recipe: 'cooking', sources: ['notes.md'] }, { project });
  expect(unknown['leftOut']).toMatchObject([
    { name: 'recipe cooking', why: expect.stringContaining('recipes/cooking.json') as string },
  ]);
  expect(unknown['text']).toContain('to be noted');
  await expect(build({ recipe: 'bad' }, { project })).rejects.toMatchObject({ code: 'FILE_NOT_USABLE' });
});

test('without sources of its own it collects those of the definition that runs', async () => {
  const project = await projectWith({ 'notes.md': 'to be noted' });
  const { hash } = await opened.store.definitions.save({
    name: 'with-sources',
    ragSources: ['notes.md'],
    steps: [],
    loop: { type: 'once' },
  });
  const own = { handle: 'own-sources', project, persona: 'ada', definitionHash: hash };
  expect((await build({ maxMessages: 20 }, { project, run: own }))['text']).toContain('to be noted');
});

const drafted = { name: 'drafted', steps: [{ type: 'shell', command: 'echo $name' }], loop: { type: 'once' } };

test.each<[string, JsonObject]>([
  ['a definition', { definition: drafted }],
  ['one that a model wrote as text', { definition: JSON.stringify(drafted) }],
  ['one in a fence', { definition: `Here it is:\n\`\`\`json\n${JSON.stringify(drafted)}\n\`\`\`` }],
  ['its fields', drafted],
  ['its fields, without a loop', { name: 'drafted', steps: drafted.steps }],
  ['a file', { file: 'drafted.json' }],
])('sentinel/create stores %s, and its id finds it', async (_what, params) => {
  const project = await projectWith({ 'drafted.json': JSON.stringify(drafted) });
  const result = await run('sentinel/create', params, { project });
  expect(result).toMatchObject({
    name: 'drafted',
    id: expect.any(String) as string,
    version: expect.any(Number) as number,
  });
  const found = await opened.store.definitions.find(result['id'] as string);
  expect(found?.definition).toMatchObject(drafted);
});

test.each([
  ['JSON', 'flows/parent.json', { $ref: '../lib/drafted.json' }],
  ['YAML', 'flows/parent.yaml', '../lib/drafted.json'],
])('sentinel/create stores a file of %s whole, with the files that it names', async (_what, file, definition) => {
  const parent = { name: 'parent', steps: [{ type: 'sentinel', definition }], loop: { type: 'once' } };
  const text = file.endsWith('.yaml') ? stringify(parent) : JSON.stringify(parent);
  const project = await projectWith({ [file]: text, 'lib/drafted.json': JSON.stringify(drafted) });
  const { id } = await run('sentinel/create', { file }, { project });
  const found = await opened.store.definitions.find(id as string);
  expect(found?.definition).toMatchObject({ name: 'parent', steps: [{ type: 'sentinel', definition: drafted }] });
});

test('sentinel/create follows no path out of the project', async () => {
  const outside = await projectWith({ 'drafted.json': JSON.stringify(drafted) });
  const step = { type: 'sentinel', definition: './linked/drafted.json' };
  const project = await projectWith({ 'parent.json': JSON.stringify({ name: 'parent', steps: [step] }) });
  symlinkSync(outside, join(project, 'linked'));
  await expect(run('sentinel/create', { file: 'parent.json' }, { project })).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
    message: expect.stringContaining('leads out of') as string,
  });
});

test.each<[string, JsonObject, string]>([
  ['no definition', { definition: { name: 'x' } }, 'DEFINITION_INVALID'],
  ['a text', { definition: 'do something useful' }, 'DEFINITION_INVALID'],
  ['an unbounded loop', { definition: { ...drafted, loop: { type: 'until', check: '$done' } } }, 'DEFINITION_INVALID'],
  ['a file that is not there', { file: 'missing.json' }, 'FILE_NOT_FOUND'],
  [
    'a path in what comes from no file',
    { definition: { ...drafted, steps: [{ definition: './x.json' }] } },
    'DEFINITION_INVALID',
  ],
  ['nothing', {}, 'COMMAND_PARAMS_INVALID'],
])('sentinel/create refuses %s', async (_what, params, code) => {
  const project = await temporaryFolder();
  await expect(run('sentinel/create', params, { project })).rejects.toMatchObject({ code });
});
