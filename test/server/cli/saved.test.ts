/** Definitions in files that name one another, and saved ones: what runs of them carry, and what they say of themselves. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, type Said } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

function write(path: string, content: object | string): string {
  const file = join(harness.project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const sentinel = (...args: string[]): Promise<Said> => harness.command(...args);
/** The last object of a verb that streams. */
const reportOf = ({ out }: Said): JsonObject => JSON.parse(out.trim().split('\n').at(-1) ?? '') as JsonObject;
const documentOf = ({ out }: Said): JsonObject => JSON.parse(out) as JsonObject;

const says = (name: string, text: string): object => once(name, [shell(`echo ${text}`, { outputTo: 'said' })]);
const parent = (name: string, ref: string): object => ({
  name,
  steps: [{ type: 'sentinel', definition: { $ref: ref }, outputTo: 'got' }],
  loop: { type: 'once' },
  outputs: { said: '{{got.said.stdout}}' },
});

test('a run carries the file that it names: a later content of the file changes nothing of it', async () => {
  const child = write('lib/child.json', says('child', 'before'));
  const file = write('flows/parent.json', parent('parent-by-path', '../lib/child.json'));
  const first = reportOf(await sentinel('run', file, '--id', 'by-path', '--json'));
  expect(first).toMatchObject({ status: 'completed', outputs: { said: 'before\n' } });
  expect(first).not.toHaveProperty('origin');

  write(child, says('child', 'after'));
  const run = await harness.store.runs.find('by-path');
  const stored = await harness.store.definitions.find(run?.definitionHash ?? '');
  expect(stored?.definition.steps[0]).toMatchObject({
    definition: { name: 'child', steps: [{ command: 'echo before' }] },
  });
  expect(reportOf(await sentinel('run', 'parent-by-path', '--id', 'by-saved-name', '--json'))).toMatchObject({
    outputs: { said: 'before\n' },
    origin: { type: 'saved', version: 1, id: stored?.hash },
  });
  expect(reportOf(await sentinel('run', file, '--json'))).toMatchObject({ outputs: { said: 'after\n' } });

  rmSync(join(harness.project, child));
  const forked = await sentinel('fork', 'by-path', '--at', 'steps.0@1', '--id', 'forked-by-path', '--json');
  expect(reportOf(forked)).toMatchObject({ outputs: { said: 'before\n' } });
  const refused = await sentinel('run', file, '--json');
  expect(refused.code).toBe(2);
  expect(reportOf(refused)).toMatchObject({
    problems: [{ code: 'FILE_NOT_READABLE', path: 'steps.0.definition.$ref' }],
  });
});

test('a trigger keeps the file that it names', async () => {
  const child = write('lib/triggered.json', says('triggered-child', 'kept'));
  const file = write('flows/triggered.json', parent('triggered-parent', '../lib/triggered.json'));
  expect((await sentinel('trigger', 'add', file, '--event', 'saved:wanted')).code).toBe(0);
  rmSync(join(harness.project, child));
  expect((await sentinel('emit', 'saved:wanted')).code).toBe(0);
  await expect
    .poll(async () => (await harness.store.runs.list({})).find(({ name }) => name === 'triggered-parent')?.outputs, {
      timeout: 20_000,
    })
    .toEqual({ said: 'kept\n' });
});

test('what is saved is found by its name, from everywhere, and says that it is a saved copy', async () => {
  write('lib/part.json', says('part', 'whole'));
  const file = write(
    'flows/saved.yaml',
    'name: release\nsteps:\n  - { type: sentinel, definition: ../lib/part.json }\n  - { type: sentinel, definition: beside }\nloop: { type: once }\n',
  );
  write('flows/beside.json', says('beside', 'beside'));
  const saved = await sentinel('save', file, '--json');
  expect(saved).toMatchObject({ code: 0, err: '' });
  expect(documentOf(saved)).toMatchObject({
    ok: true,
    name: 'release',
    version: 1,
    with: [{ name: 'beside', version: 1 }],
  });
  rmSync(join(harness.project, 'flows/beside.json'));
  rmSync(join(harness.project, 'lib/part.json'));

  const ran = await sentinel('run', 'release', '--id', 'released');
  expect(ran.code).toBe(0);
  expect(ran.err).toMatch(/sentinel: "release" is the saved copy, version 1 of \d{4}-\d\d-\d\d \d\d:\d\d; /);
  expect(ran.err).toContain('sentinel: "beside" is the saved copy, version 1');
  expect(ran.out).toContain('from the saved copy, version 1');
  expect((await sentinel('status', 'released')).out).toContain('from the saved copy, version 1');
  expect(documentOf(await sentinel('status', 'released', '--json'))).toMatchObject({
    origin: { type: 'saved', version: 1 },
  });
  const explained = await sentinel('explain', 'release');
  expect(explained).toMatchObject({ code: 0, out: expect.stringContaining('echo whole') as string });
  expect(explained.err).toContain('"release" is the saved copy, version 1');
});

test('a saved copy that differs from a file of its name is warned of', async () => {
  const file = write('flows/differs.json', says('differs', 'first'));
  expect((await sentinel('save', file)).out).toBe('saved differs, version 1\n');
  expect(await sentinel('validate', file)).toMatchObject({ code: 0, err: '' });
  expect((await sentinel('run', 'differs')).err).not.toContain('flows/differs.json');
  write(file, says('differs', 'second'));
  const validated = await sentinel('validate', file);
  expect(validated.code).toBe(0);
  expect(validated.err).toMatch(
    /^sentinel: the saved copy of "differs" \(version 1 of .*\) differs from flows\/differs\.json; "sentinel save flows\/differs\.json" saves the file\n$/,
  );
  expect((await sentinel('run', 'differs')).err).toContain(
    'flows/differs.json has that name too and differs from the saved copy',
  );
});

test('saved definitions are listed, shown and deleted', async () => {
  const file = write('flows/kept.json', { ...says('kept', 'one'), description: 'It is kept.' });
  await sentinel('save', file);
  write(file, says('kept', 'two'));
  expect(documentOf(await sentinel('save', file, '--json'))).toMatchObject({ version: 2 });
  // An older text that is saved again is the one that its name finds.
  write(file, { ...says('kept', 'one'), description: 'It is kept.' });
  expect(documentOf(await sentinel('save', file, '--json'))).toMatchObject({ version: 1 });
  expect(JSON.parse((await sentinel('saved', 'list', '--json')).out)).toContainEqual(
    expect.objectContaining({ name: 'kept', version: 1, description: 'It is kept.' }),
  );
  expect((await sentinel('saved', 'list')).out).toMatch(/^kept +1 .*It is kept\.$/m);

  const shown = await sentinel('saved', 'show', 'kept');
  expect(JSON.parse(shown.out)).toMatchObject({ name: 'kept', steps: [{ command: 'echo one' }] });
  expect(JSON.parse((await sentinel('saved', 'show', 'kept', '--json')).out)).toMatchObject({
    version: 1,
    versions: [{ version: 2 }, { version: 1 }],
  });

  expect(await sentinel('save', file, '--name', 'kept as well')).toMatchObject({
    code: 0,
    out: 'saved kept as well, version 1\n',
  });
  await sentinel('save', file, '--name', 'team/kept');
  expect(await sentinel('run', 'team/kept')).toMatchObject({ code: 0 });
  expect(await sentinel('explain', 'team/kept')).toMatchObject({ code: 0 });
  expect(reportOf(await sentinel('run', './team/kept', '--json'))).toMatchObject({
    error: { code: 'DEFINITION_INVALID' },
  });
  expect((await sentinel('saved', 'delete', 'kept')).out).toBe('kept is deleted.\n');
  expect(await sentinel('saved', 'delete', 'kept')).toMatchObject({ code: 4 });
  expect(documentOf(await sentinel('saved', 'delete', 'kept as well', '--json'))).toEqual({
    ok: true,
    name: 'kept as well',
  });
  const gone = await sentinel('saved', 'show', 'kept', '--json');
  expect(gone.code).toBe(4);
  expect(documentOf(gone)).toMatchObject({
    ok: false,
    error: { code: 'NOT_FOUND', message: expect.stringContaining('There is no saved definition "kept"') as string },
  });
  expect(reportOf(await sentinel('run', 'kept', '--json'))).toMatchObject({ error: { code: 'DEFINITION_NOT_FOUND' } });
});

test('what has problems is not saved', async () => {
  const file = write('flows/wrong.json', { name: 'wrong', steps: [{ type: 'shell' }] });
  const said = await sentinel('save', file, '--json');
  expect(said.code).toBe(2);
  expect(documentOf(said)).toMatchObject({
    ok: false,
    error: { code: 'DEFINITION_INVALID' },
    problems: [{ code: 'MISSING_KEY' }],
  });
  expect(await harness.store.definitions.find('wrong')).toBeNull();
  expect(await sentinel('save', file, '--name', '')).toMatchObject({ code: 2 });
});
