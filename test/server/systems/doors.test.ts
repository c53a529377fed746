/** A system of a project at the command line, in simulations and over MCP; and one that cannot be used. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLI, Harness } from '../harness/harness.ts';
import { CONFIG, NOTES } from './notes-project.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(join(harness.project, 'notes.ts'), NOTES);
  writeFileSync(join(harness.project, 'sentinel.config.ts'), CONFIG);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

const listed = async (): Promise<object[]> =>
  (JSON.parse((await harness.command('notes', 'list', '--json')).out) as { result: object[] }).result;

test('verbs perform its commands: as a person, once, with its failures and its own words', async () => {
  expect(await harness.command('notes', 'add', 'by ada')).toMatchObject({ code: 0, out: 'by ada\n' });
  const again = await harness.command('notes', 'add', 'by ada', '--json');
  expect(again).toMatchObject({ code: 1 });
  expect(JSON.parse(again.out)).toMatchObject({
    ok: false,
    error: { code: 'COMMAND_FAILED', details: { failure: 'NOTE_THERE' } },
  });
  expect(await harness.command('notes', 'add', 'by grace', '--as', 'grace')).toMatchObject({ code: 0 });
  expect(await listed()).toMatchObject([
    { text: 'by ada', by: 'ada' },
    { text: 'by grace', by: 'grace' },
  ]);
  expect(await harness.command('notes', 'list', '--like', '%grace')).toMatchObject({
    code: 0,
    out: 'id: 3  text: by grace  by: grace\n',
  });
  expect(await harness.command('notes', '--help')).toMatchObject({
    code: 0,
    out: expect.stringContaining('write a note down') as string,
  });
});

test.each([
  [['notes', 'add'], "missing required argument 'text'"],
  [['notes', 'forget'], 'unknown command'],
  [['notes', 'list', '--unlike', 'x'], 'unknown option'],
  [['notse', 'list'], '"notse" is not a verb'],
])('%j is refused with its words', async (words, finding) => {
  const { code, err } = await harness.command(...words);
  expect({ code, err: err.replaceAll('"text"', "'text'") }).toMatchObject({
    code: 2,
    err: expect.stringContaining(finding) as string,
  });
});

test('a verb of a long command is a run of one step', async () => {
  const { code, out } = await harness.command('notes', 'import', '["slow one", "slow two"]', '--json');
  expect({ code, said: JSON.parse(out) as object }).toMatchObject({
    code: 0,
    said: { ok: true, result: { added: 2 } },
  });
  expect(await listed()).toMatchObject(expect.arrayContaining([expect.objectContaining({ text: 'slow two' })]));
});

test('the definition that it brings is found by its name, alone and in another', async () => {
  const alone = await harness.command('run', 'notes-report', '--json');
  expect(alone).toMatchObject({ code: 0 });
  expect(JSON.parse(alone.out.trim().split('\n').at(-1) ?? '')).toMatchObject({ outputs: { notes: await listed() } });
  writeFileSync(
    join(harness.project, 'around.json'),
    JSON.stringify({ name: 'around', steps: [{ type: 'sentinel', definition: { $ref: 'notes-report' } }] }),
  );
  expect(await harness.command('validate', 'around.json')).toMatchObject({ code: 0 });
  expect(await harness.command('run', 'around.json')).toMatchObject({ code: 0 });
});

test('a simulation takes what it predicts, and writes nothing', async () => {
  const before = await listed();
  const definition = {
    name: 'predicted',
    steps: [{ type: 'command', command: 'notes/add', params: { text: 'later' }, outputTo: 'added' }],
    outputs: { id: '$added.id', text: '$added.text' },
  };
  writeFileSync(join(harness.project, 'predicted.json'), JSON.stringify(definition));
  const { code, out } = await harness.command('simulate', 'predicted.json', '--json');
  expect({ code, report: JSON.parse(out) as object }).toMatchObject({
    code: 0,
    report: { outputs: { id: 1, text: 'later' } },
  });
  expect(await listed()).toEqual(before);
});

test('an agent performs them over MCP and signs as its program; what only follows events is no tool', async () => {
  const client = new Client({ name: 'an editor', version: '1.0.0' });
  const { PATH = '' } = process.env;
  const env = { PATH, ...harness.env, USER: 'ada', SENTINEL_TRUST: 'all' };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', 'serve'],
      cwd: harness.project,
      env,
      stderr: 'inherit',
    }),
  );
  const { tools } = await client.listTools();
  const own = tools.filter(({ name }) => name.startsWith('notes_'));
  expect(own.map(({ name }) => name)).toEqual(['notes_add', 'notes_list']);
  expect(own[0]).toMatchObject({ description: 'Writes a note down.', inputSchema: { required: ['text'] } });
  const added = await client.callTool({ name: 'notes_add', arguments: { text: 'by an agent' } });
  expect(added.structuredContent).toMatchObject({ result: { text: 'by an agent' } });
  const refused = await client.callTool({ name: 'notes_add', arguments: { text: 'by an agent' } });
  expect(refused.isError).toBe(true);
  await client.close();
  expect((await listed()).at(-1)).toMatchObject({ text: 'by an agent', by: 'mcp:an-editor' });
});

test('a process of a step writes in nobody’s name', async () => {
  const step = {
    type: 'shell',
    command: `SENTINEL_TRUST=all "${process.execPath}" "${CLI}" notes add "by a step" 2>&1`,
  };
  writeFileSync(
    join(harness.project, 'inside.json'),
    JSON.stringify({ name: 'inside', steps: [{ ...step, outputTo: 'said' }] }),
  );
  const { out } = await harness.command('run', 'inside.json', '--json');
  expect(out).toContain('is a person');
  expect(JSON.stringify(await listed())).not.toContain('by a step');
});
