/** Commands that a project's configuration defines: what it may say, and what a definition may then name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseDefinition } from '../../../language/read/definition.ts';
import type { Problem } from '../../../language/problems.ts';
import { openProjectCommands } from '../../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';
import { acceptTools } from '../../../services/config/accepted-tools.ts';
import { ConfigError } from '../../../services/home/config-error.ts';
import { configFileOf } from '../../../services/config/project-file.ts';
import { builtIn, catalogue } from '../../catalogue.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-own-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const home = join(folder, 'home');

let count = 0;
function project(text: string): string {
  count += 1;
  const path = join(folder, `project-${count}`);
  mkdirSync(path);
  writeFileSync(join(path, 'sentinel.config.ts'), text);
  return path;
}

const open = (path: string): Promise<ProjectCommands> => openProjectCommands(builtIn(), path, home);

/** A configuration with one command of these fields over good ones. */
const one = (fields: string): string => `
import { defineCommand, z } from 'sentinel-engine/commands';
const good = { name: 'own/read', permission: 'read', params: z.strictObject({ id: z.string() }), result: z.string(), run: () => '' };
export default { commands: [defineCommand({ ...good, ${fields} })] };`;

test('a command is in the catalogue with what the interpreter has to know of it', async () => {
  const { catalogue: all } = await open(
    project(`
import { defineCommand, z } from 'sentinel-engine/commands';
const permission = 'read' as const;
export default {
  commands: [
    defineCommand({
      name: 'tracker/ticket', description: 'Reads a ticket.', permission, speed: 'quick', timeoutMs: 1000, textField: 'title',
      params: z.strictObject({ id: z.string() }), result: z.object({ title: z.string() }),
      run: ({ id }) => ({ title: id.toUpperCase() }),
    }),
    defineCommand({ name: 'deploy', permission: 'shell', params: z.object({}), result: z.null(), run: async () => null }),
  ],
};`),
  );
  expect(all['tracker/ticket']).toEqual({
    permission: 'read',
    speed: 'quick',
    timeoutMs: 1000,
    textField: 'title',
    unconfined: true,
  });
  expect(all['deploy']).toEqual({ permission: 'shell', speed: 'long', unconfined: true });
  expect(all['code/read']).toEqual(catalogue['code/read']);
});

test.each([
  ["name: 'code/read'", /commands\.0\.name: "code\/read" is a command of Sentinel itself; choose another name/],
  ["name: 'memory/store'", /commands\.0\.name: "memory\/store" is a command of Sentinel itself/],
  [
    "name: 'own/x', failures: { RECORD_EXISTS: 'x' }",
    /commands\.0\.failures\.RECORD_EXISTS: it is a code of Sentinel itself/,
  ],
  ["name: 'own/x', queue: 'training'", /commands\.0\.queue: a command has a queue where its system states it/],
  ["name: 'code_read'", /commands\.0\.name: commands "code\/read" and "code_read" are both the tool "code_read"/],
  ["name: 'a b'", /commands\.0\.name: a command is named by letters/],
  ["name: 'mcp/x/y'", /commands\.0\.name: names that begin with mcp\//],
  ["name: 'data/mine'", /commands\.0\.name: names that begin with data\/ are kept for Sentinel itself; choose another/],
  ["name: 'collaboration/notes'", /commands\.0\.name: names that begin with collaboration\//],
  ["name: 'genome/mine'", /commands\.0\.name: names that begin with genome\//],
  ["name: 'screenshot/wide'", /commands\.0\.name: names that begin with screenshot\//],
  [`name: '${'x'.repeat(65)}'`, /commands\.0\.name: command "x{65}" has 65 characters/],
  ["speed: 'quick', permission: 'write'", /commands\.0\.speed: only a command with the permission "read" can be quick/],
  ["speed: 'quick', timeoutMs: 60000", /commands\.0\.timeoutMs: a quick command takes at most 5000 ms/],
  ["permission: 'root' as never", /commands\.0\.permission: /],
  ['params: {} as never', /commands\.0\.params: must be a schema of zod 4/],
  ['params: undefined as never', /commands\.0\.params: is missing; it is a schema of zod 4/],
  ['result: undefined as never', /commands\.0\.result: is missing; it is a schema of zod 4/],
  ['run: undefined as never', /commands\.0\.run: is missing; it is the function to run/],
  ['params: z.string()', /commands\.0\.params: must be the schema of an object/],
  ["run: 'rm' as never", /commands\.0\.run: must be a function/],
  ['parms: z.object({})', /commands\.0: Unrecognized key: "parms"/],
])('%s is refused by file and field', async (fields, message) => {
  const path = project(one(fields));
  const error: unknown = await open(path).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toContain(join(path, 'sentinel.config.ts'));
  expect((error as Error).message).toMatch(message);
});

test.each([
  ["{ url: 'ftp://x' }", /mcpServers\.x\.url: must be an address that begins with http/],
  ["{ command: 'x', url: 'http://x' }", /mcpServers\.x: Unrecognized key: "command"/],
  ["{ command: 'x', permission: 'all' }", /mcpServers\.x\.permission: /],
  ["{ command: 'x', tools: { y: 'read' } }", /mcpServers\.x\.tools\.y: /],
  ['{}', /mcpServers\.x\.command: /],
])('the MCP server %s is refused by file and field', async (server, message) => {
  const error: unknown = await open(project(`export default { mcpServers: { x: ${server} } };`)).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(message);
});

async function problemsOf(commands: ProjectCommands, step: object, rest: object = {}): Promise<Partial<Problem>[]> {
  const definition = {
    name: 'x',
    inputs: { it: 'a' },
    steps: [{ type: 'command', ...step }],
    loop: { type: 'once' },
    ...rest,
  };
  const { problems } = parseDefinition(definition, commands);
  return problems.map(({ code, path, message }) => ({ code, path, message }));
}

test('a definition is read with the commands and their parameters', async () => {
  const commands = await open(
    project(
      one(
        "params: z.strictObject({ id: z.string(), size: z.number().optional(), tags: z.array(z.string()).optional(), kind: z.enum(['a', 'b']).optional() }), permission: 'write'",
      ),
    ),
  );
  const problems = (params: object, rest?: object) => problemsOf(commands, { command: 'own/read', params }, rest);
  expect(await problems({ id: 'x' })).toEqual([]);
  expect(await problems({ id: '$it', size: '{{it.size}}', tags: '$it', kind: '$it' })).toEqual([]);
  expect(await problems({})).toMatchObject([
    { code: 'MISSING_KEY', path: 'steps.0.params.id', message: '"own/read": the parameter "id" is needed' },
  ]);
  expect(await problems({ id: 7 })).toMatchObject([
    {
      code: 'WRONG_TYPE',
      path: 'steps.0.params.id',
      message: expect.stringMatching(/^"own\/read": the parameter "id" does not fit: .*expected string/) as string,
    },
  ]);
  expect(await problems({ id: '$it', tags: ['$it', 7], kind: 'c', extra: '$it' })).toMatchObject([
    { code: 'WRONG_TYPE', path: 'steps.0.params.tags.1' },
    { code: 'WRONG_VALUE', path: 'steps.0.params.kind' },
    { code: 'UNKNOWN_KEY', path: 'steps.0.params.extra' },
  ]);
  expect(await problems({ id: 'x' }, { mode: 'sandboxed' })).toMatchObject([
    { code: 'REFUSED_BY_MODE', message: expect.stringContaining('runs outside the sandbox') as string },
  ]);
  expect(await problems({ id: 'x' }, { mode: 'readonly' })).toMatchObject([{ code: 'REFUSED_BY_MODE' }]);
  const reading = await open(project(one('')));
  expect(await problemsOf(reading, { command: 'own/read', params: { id: 'x' } }, { mode: 'sandboxed' })).toEqual([]);
});

test('the tools of an MCP server are commands once they were accepted, by what was kept', async () => {
  const path = project(`
export default { mcpServers: { tracker: { command: 'no-such-program', tools: { ticket: { permission: 'read' } } } } };`);
  expect((await open(path)).notices).toEqual([
    'the tools of the MCP server "tracker" have not been accepted: "sentinel mcp accept tracker DIGEST" does; "sentinel mcp list" shows them and their digest',
  ]);
  const inputSchema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { id: { type: 'string' }, size: { type: 'integer' } },
    required: ['id'],
    additionalProperties: false,
  };
  const tools = [
    { name: 'ticket', description: 'Reads.', inputSchema },
    { name: 'close', inputSchema: { type: 'object' } },
    { name: 'odd.name', inputSchema: { type: 'object' } },
    { name: 'broken', inputSchema: { type: 'objekt' } },
  ];
  acceptTools(home, {
    project: path,
    server: 'tracker',
    tools,
    start: { command: 'no-such-program', args: [], env: {}, permission: 'network', tools: {} },
    by: 'ada',
  });
  const commands = await open(path);
  expect(commands.notices).toEqual([
    expect.stringMatching(/^the tool "odd\.name" of the MCP server "tracker" is left out: .*characters/),
    expect.stringMatching(
      /^the tool "broken" of the MCP server "tracker" is left out: its parameters are no JSON Schema/,
    ),
  ]);
  const { 'mcp/tracker/ticket': ticket, 'mcp/tracker/close': close } = commands.catalogue;
  expect(ticket).toEqual({ permission: 'read', speed: 'long', textField: 'text', unconfined: true });
  expect(close?.permission).toBe('network');
  const step = (params: object) => problemsOf(commands, { command: 'mcp/tracker/ticket', params });
  expect(await step({ id: 'x', size: '$it' })).toEqual([]);
  expect(await step({ size: 'large', more: 1 })).toMatchObject([
    { code: 'MISSING_KEY', path: 'steps.0.params.id' },
    { code: 'UNKNOWN_KEY', path: 'steps.0.params.more' },
    { code: 'WRONG_TYPE', path: 'steps.0.params.size' },
  ]);
});

test('what the file imports from the project takes part in what a worker has', () => {
  const path = project("import { a } from './lib/a.js';\nimport { c } from './lib/c.ts';\nexport default {};");
  mkdirSync(join(path, 'lib'));
  const write = (name: string, text: string): string | undefined => {
    writeFileSync(join(path, 'lib', name), text);
    return configFileOf(path)?.digest;
  };
  const first = write('a.ts', "export { b as a } from './b';");
  const second = write('b.ts', 'export const b = 1;');
  const third = write('b.ts', 'export const b = 2;');
  const fourth = write('c.ts', 'export const c = 2;');
  const fifth = write('unrelated.ts', 'export const d = 2;');
  expect(new Set([first, second, third, fourth]).size).toBe(4);
  expect(fifth).toBe(fourth);
});
