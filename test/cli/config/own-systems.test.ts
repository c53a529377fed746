/** Systems that a project's configuration names: what it may say, and why one of them cannot be used. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openProjectCommands } from '../../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';
import { judgedSystems } from '../../../runs/commands/project-systems.ts';
import { loadProjectConfig } from '../../../services/config/project-config.ts';
import { configFileOf } from '../../../services/config/project-file.ts';
import { builtIn } from '../../catalogue.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-own-systems-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function project(systems: string, rest = ''): string {
  count += 1;
  const path = join(folder, `project-${count}`);
  mkdirSync(path);
  writeFileSync(
    join(path, 'sentinel.config.ts'),
    `
import { defineCommand, defineSystem, z } from 'sentinel-engine/commands';
const get = (name, fields = {}) => defineCommand({
  name, permission: 'read', speed: 'quick', params: z.strictObject({ id: z.string() }), result: z.string(), run: () => '', ...fields,
});
const shelf = (fields = {}) => defineSystem({ name: 'shelf', summary: 'a shelf', commands: [get('shelf/get')], ...fields });
export default { systems: [${systems}]${rest} };`,
  );
  return path;
}

const open = (path: string): Promise<ProjectCommands> => openProjectCommands(builtIn(), path, join(folder, 'home'));

const SORT = "{ name: 'sort', inputs: { shelf: '' }, steps: [], loop: { type: 'once' } }";

test.each([
  ['a name', "shelf({ name: 'Shelf' })", 'systems.0.name: a system is named by small letters'],
  [
    'a command of another name',
    "shelf({ commands: [get('other/get')] })",
    'systems.0.commands.0.name: the commands of the system "shelf" begin with "shelf/"',
  ],
  [
    'a command twice',
    "shelf({ commands: [get('shelf/get'), get('shelf/get')] })",
    'systems.0.commands.1.name: "shelf/get" is there already',
  ],
  ['no command', 'shelf({ commands: [] })', 'systems.0.commands'],
  [
    'an event of another name',
    "shelf({ events: { 'other:done': z.null() } })",
    'systems.0.events.other:done: the events of the system "shelf" begin with "shelf:"',
  ],
  ['an event without a schema', "shelf({ events: { 'shelf:done': {} } })", 'must be a schema of zod 4'],
  ['a code that is none', "shelf({ failures: { 'no code': 'x' } })", 'a code has capitals, digits and _'],
  [
    'a code whose permanence is no word',
    "shelf({ failures: { SHELF_FULL: { title: 'x', retryable: 'no' } } })",
    'systems.0.failures.SHELF_FULL',
  ],
  [
    'a code of a command that is none',
    "shelf({ commands: [get('shelf/get', { failures: { 'no code': 'x' } })] })",
    'a code has capitals, digits and _',
  ],
  [
    'a follower of nothing',
    "shelf({ followers: { all: { event: 'x', command: 'shelf/gone' } } })",
    'systems.0.followers.all.command: there is no command "shelf/gone"',
  ],
  [
    'a slow follower',
    "shelf({ commands: [get('shelf/get', { speed: 'long' })], followers: { all: { event: 'x', command: 'shelf/get' } } })",
    'what follows an event is quick',
  ],
  [
    'a queue that the system does not state',
    "shelf({ commands: [get('shelf/get', { speed: 'long', queue: 'training' })] })",
    'systems.0.commands.0.queue: the system "shelf" states no queue "training"',
  ],
  [
    'a queue of a quick command',
    "shelf({ queues: { training: { atOnce: 1 } }, commands: [get('shelf/get', { queue: 'training' })] })",
    'systems.0.commands.0.queue: a quick command',
  ],
  ['a queue for nobody', 'shelf({ queues: { training: { atOnce: 0 } } })', 'systems.0.queues.training.atOnce'],
  ['a queue of another name', "shelf({ queues: { 'a/b': { atOnce: 1 } } })", 'a name has small letters, digits and -'],
  [
    'a queue of the entry that the system has not',
    '{ system: shelf({ queues: { training: { atOnce: 1 } } }), queues: { trainig: { atOnce: 2 } } }',
    'systems.0.queues.trainig: the system "shelf" has no queue "trainig"; it has training',
  ],
  [
    'layers of nothing',
    "shelf({ layers: { layer: 'shelf/get', genome: 'shelf/gone' } })",
    'systems.0.layers.genome: there is no command "shelf/gone"',
  ],
  [
    'layers that take long',
    "shelf({ commands: [get('shelf/get', { speed: 'long' })], layers: { layer: 'shelf/get', genome: 'shelf/get' } })",
    'systems.0.layers.layer: "shelf/get" takes long',
  ],
  [
    'background work of nothing',
    "shelf({ background: { sort: { everyMs: 1000, command: 'shelf/gone' } } })",
    'systems.0.background.sort.command: there is no command "shelf/gone"',
  ],
  [
    'background work with parameters',
    "shelf({ background: { sort: { everyMs: 1000, command: 'shelf/get' } } })",
    '"shelf/get" is performed without parameters, and needs some',
  ],
  [
    'background work that the command does not allow',
    "shelf({ commands: [get('shelf/get', { params: z.strictObject({}), doors: ['step'] })], background: { sort: { everyMs: 1000, command: 'shelf/get' } } })",
    '"background" is none of them',
  ],
  [
    'background work too often',
    "shelf({ background: { sort: { everyMs: 10, command: 'shelf/get' } } })",
    'systems.0.background.sort.everyMs',
  ],
  [
    'a verb of nothing',
    "shelf({ verbs: { get: { summary: 'x', command: 'shelf/gone' } } })",
    'systems.0.verbs.get.command: there is no command',
  ],
  [
    'a word for nothing',
    "shelf({ verbs: { get: { summary: 'x', command: 'shelf/get', args: ['name'] } } })",
    'systems.0.verbs.get.args: "shelf/get" has no parameter "name"',
  ],
  [
    'a run of no definition',
    "shelf({ run: { definition: 'sort' } })",
    'systems.0.run.definition: there is no definition "sort" in the system "shelf"',
  ],
  [
    'a word for no input',
    `shelf({ definitions: { sort: ${SORT} }, run: { definition: 'sort', args: ['shelf', 'by'] } })`,
    'systems.0.run.args: "sort" has no input "by"',
  ],
  [
    'a quick command for the shell',
    "shelf({ commands: [get('shelf/get', { permission: 'shell' })] })",
    'only a command with the permission "read" or "write" can be quick',
  ],
  [
    'settings that it refuses',
    "{ system: shelf({ settings: z.strictObject({ max: z.number() }) }), settings: { max: 'x' } }",
    'systems.0.settings.max',
  ],
  [
    'settings that it lacks',
    '{ system: shelf(), settings: { max: 1 } }',
    'systems.0.settings: the system "shelf" has no settings',
  ],
  ['a field that there is not', 'shelf({ tabels: {} })', 'tabels'],
])('%s: the field is named', async (_what, systems, words) => {
  await expect(open(project(systems))).rejects.toThrow(words);
});

test.each([
  [
    'a permission that nobody grants',
    "shelf({ commands: [get('shelf/get', { permission: 'network', speed: 'long' })] })",
    'needs the permission "network"',
  ],
  [
    'a name of the engine',
    "defineSystem({ name: 'data', summary: 'x', commands: [get('data/more')] })",
    'commands of Sentinel itself begin with "data/"',
  ],
  [
    'a name of a system of the engine',
    "defineSystem({ name: 'pages', summary: 'x', commands: [get('pages/more')] })",
    'a system "pages" comes with Sentinel',
  ],
  [
    'a queue of another system',
    "shelf({ queues: { lifting: { atOnce: 1 } } }), defineSystem({ name: 'gym', summary: 'x', queues: { lifting: { atOnce: 2 } }, commands: [get('gym/get')] })",
    'its queue "lifting" is one of the system "shelf", too',
  ],
  [
    'a failure of the engine',
    "shelf({ failures: { STEP_TIMEOUT: 'x' } })",
    'the failure "STEP_TIMEOUT" is one of Sentinel',
  ],
  [
    'a failure of the engine at a command',
    "shelf({ commands: [get('shelf/get', { failures: { RECORD_EXISTS: 'x' } })] })",
    'the failure "RECORD_EXISTS" is one of Sentinel',
  ],
  ['another system of its name', 'shelf(), shelf()', 'there is another system of that name'],
])('%s: it alone cannot be used, and validate says so', async (_what, systems, words) => {
  const path = project(`${systems}, defineSystem({ name: 'fine', summary: 'x', commands: [get('fine/get')] })`);
  const { catalogue: all, notices } = await open(path);
  expect(notices.filter((notice) => notice.includes(words))).toHaveLength(1);
  expect(all['fine/get']).toMatchObject({ permission: 'read', speed: 'quick' });
  const file = configFileOf(path);
  if (file === null) throw new Error('the project has no configuration');
  const judged = judgedSystems(builtIn(), await loadProjectConfig(file));
  expect(judged.filter(({ problem }) => problem !== null)).toHaveLength(1);
  expect(judged.at(-1)).toMatchObject({ system: { name: 'fine' }, problem: null });
});

test.each([
  ['page', '{}', 'settings.page: no system "page" comes with Sentinel; did you mean "pages"?'],
  ['shelf', '{}', 'settings.shelf: "shelf" is a system of the project; write its settings beside it'],
  [
    'git',
    '{ name: "ada" }',
    'settings.git: the system "git" has no settings; these have: cycle, data, datasets, genome, integrate, pages',
  ],
  ['data', '{ indexs: [] }', 'settings.data.indexs: there is no such setting; did you mean "indexes"?'],
  ['data', '{ indexes: [{ collection: "a", fields: ["id"] }] }', 'settings.data.indexes.0.fields.0'],
  ['pages', '{ host: ["x"] }', 'settings.pages.host: there is no such setting; did you mean "hosts"?'],
  ['pages', '{ hosts: ["https://x"] }', 'settings.pages.hosts.0'],
  ['pages', '"x"', 'settings.pages'],
])('settings of the engine’s systems, %s %s: the field is named', async (system, given, words) => {
  await expect(open(project('shelf()', `, settings: { ${system}: ${given} }`))).rejects.toThrow(words);
});

test('settings that a system of the engine takes are taken', async () => {
  const { notices } = await open(project('', ', settings: { pages: { hosts: ["localhost", "*.example.com"] } }'));
  expect(notices).toEqual([]);
});

test('a run of a definition of its own is one', async () => {
  const run = "run: { definition: 'sort', args: ['shelf'] }";
  const { notices } = await open(project(`shelf({ definitions: { sort: ${SORT} }, ${run} })`));
  expect(notices).toEqual([]);
});

test('a permission that the configuration grants is one', async () => {
  const system = "shelf({ commands: [get('shelf/get', { permission: 'network', speed: 'long' })] })";
  const { notices } = await open(project(`{ system: ${system}, may: ['read', 'network'] }`));
  expect(notices).toEqual([]);
});
