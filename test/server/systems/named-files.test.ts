/** Definitions in the folders of a project, and in those of another one: what finds them by name, and who may take them from where. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Harness, Said } from '../harness/harness.ts';
import { useTwoProjects } from '../harness/two-projects.ts';

const { harness: opened, other } = useTwoProjects();
let harness: Harness;
beforeAll(() => {
  harness = opened();
});

function write(path: string, content: object | string, project = harness.project): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

const saying = (name: string, event: string, more: object = {}): JsonObject => ({
  name,
  loop: { type: 'once' },
  steps: [{ type: 'emit', event }],
  ...more,
});
const flow = (name: string, steps: object[], more: object = {}): JsonObject => ({
  name,
  loop: { type: 'once' },
  steps: steps as JsonObject[],
  ...more,
});
async function emitted(event: string): Promise<number> {
  const { out } = await harness.command('events', event, '--json');
  return out.trim() === '' ? 0 : (JSON.parse(out) as JsonObject[]).length;
}
const saved = async (name: string): Promise<JsonObject[]> =>
  (JSON.parse((await harness.command('saved', 'list', '--json')).out) as JsonObject[]).filter(
    (one) => one['name'] === name,
  );
const run = (file: string, content: object, ...more: string[]): Promise<Said> => {
  write(file, content);
  return harness.command('run', file, ...more);
};

test('a step names a definition of the folders that travel: it is loaded when it is first used, and again when its file has changed', async () => {
  write('.continuum/sentinels/team/greet.json', saying('greet', 'greeted:first'));
  write(
    'system/recipes/close.yaml',
    'name: close\nloop: { type: once }\nsteps: [{ type: emit, event: "closed:first" }]\n',
  );
  const started = flow(
    'starter',
    [
      { type: 'sentinel', definition: { $ref: '$which' } },
      { type: 'command', command: 'sentinel/run', params: { name: 'close' } },
    ],
    { inputs: { which: 'greet' } },
  );
  expect(await run('flow.json', started)).toMatchObject({ code: 0 });
  await expect.poll(() => emitted('closed:first'), { timeout: 20_000 }).toBe(1);
  expect(await emitted('greeted:first')).toBe(1);
  expect(await saved('greet')).toMatchObject([{ version: 1, project: harness.project, personaId: 'ada' }]);
  write('.continuum/sentinels/team/greet.json', saying('greet', 'greeted:second'));
  expect(await run('flow.json', started)).toMatchObject({ code: 0 });
  expect([await emitted('greeted:first'), await emitted('greeted:second')]).toEqual([1, 1]);
  expect(await saved('greet')).toMatchObject([{ version: 2 }]);
});

test('a definition that a step creates, or a file in another folder, names it as well', async () => {
  write('.continuum/sentinels/inner.json', saying('inner', 'inner:said'));
  const outer = flow('outer', [{ type: 'sentinel', definition: { $ref: 'inner' } }]);
  const creating = flow('creating', [
    { type: 'command', command: 'sentinel/create', params: { definition: outer }, outputTo: 'made' },
    { type: 'sentinel', definition: { $ref: '$made.id' } },
  ]);
  expect(await run('creating.json', creating)).toMatchObject({ code: 0 });
  expect(await run('flows/outer-file.json', { ...outer, name: 'outer-file' })).toMatchObject({ code: 0 });
  expect(await emitted('inner:said')).toBe(2);
});

test('a file that holds no definition fails the step that names it, with the place in it', async () => {
  write('.continuum/sentinels/broken.json', flow('broken', [{ type: 'emitt', event: 'never' }]));
  const naming = (steps: object[]): JsonObject => flow('naming', steps, { inputs: { which: 'broken' } });
  for (const steps of [
    [{ type: 'sentinel', definition: { $ref: '$which' } }],
    [{ type: 'command', command: 'sentinel/run', params: { name: '$which' } }],
  ]) {
    const said = await run('naming.json', naming(steps));
    expect(said.code).toBe(1);
    expect(said.out + said.err).toContain('.continuum/sentinels/broken.json');
  }
});

test('a sandboxed step puts nothing there that a name would find', async () => {
  const planting = flow(
    'planting',
    [
      {
        type: 'shell',
        command: 'mkdir -p .continuum/sentinels && cp flow.json .continuum/sentinels/planted.json; true',
      },
      { type: 'sentinel', definition: { $ref: '$which' } },
    ],
    { mode: 'sandboxed', inputs: { which: 'planted' } },
  );
  const said = await run('planting.json', planting);
  expect(said.code).toBe(1);
  expect(said.out + said.err).toContain('there is no definition of that name');
});

test('a person takes a file of another project, with what it names there; a run does not', async () => {
  write(
    '.continuum/sentinels/foreign.json',
    flow('foreign', [{ type: 'sentinel', definition: { $ref: 'foreign-part' } }]),
    other,
  );
  write('.continuum/sentinels/parts/part.json', saying('foreign-part', 'foreign:said'), other);
  const file = join(other, '.continuum', 'sentinels', 'foreign.json');
  const made = await harness.command('command', 'sentinel/create', `--file=${file}`, '--json');
  expect(made).toMatchObject({ code: 0 });
  expect(JSON.parse(made.out)).toMatchObject({ result: { name: 'foreign', version: 1 } });
  expect(await saved('foreign')).toMatchObject([{ project: harness.project, personaId: 'ada' }]);
  expect(await harness.command('run', 'foreign')).toMatchObject({ code: 0 });
  expect(await emitted('foreign:said')).toBe(1);

  const taking = flow('taking', [{ type: 'command', command: 'sentinel/create', params: { file } }]);
  const refused = await run('taking.json', taking, '--json');
  expect(refused.code).toBe(1);
  expect(refused.out).toContain('PATH_OUTSIDE_PROJECT');

  write('broken.json', flow('broken', [{ type: 'emitt' }]), other);
  const broken = await harness.command('command', 'sentinel/create', `--file=${join(other, 'broken.json')}`);
  expect(broken.code).toBe(2);
  expect(broken.err).toContain('emitt');
  const missing = await harness.command('command', 'sentinel/create', '--file=../nowhere/at-all.json');
  expect(missing.code).toBe(2);
  expect(missing.err).toContain('does not exist');
});

test("saving and running a file of another project is a person's, too, by its path", async () => {
  write('sentinels/lent.json', flow('lent', [{ type: 'sentinel', definition: { $ref: 'lent-part' } }]), other);
  write('sentinels/lent-part.json', saying('lent-part', 'lent:said'), other);
  const file = join(other, 'sentinels', 'lent.json');
  expect(await harness.command('save', file)).toMatchObject({ code: 0 });
  expect(await saved('lent')).toMatchObject([{ project: harness.project }]);
  expect(await harness.command('run', file)).toMatchObject({ code: 0 });
  expect(await emitted('lent:said')).toBe(1);
});
