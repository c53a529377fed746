/** What runs changed, as the command line shows it and takes it back; and `code/undo`, which a definition calls. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StepChanges } from '../../../operations/checkpoints/changes.ts';
import type { Undone } from '../../../operations/checkpoints/undo.ts';
import { counted, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

let harness: Harness;
const model = new ModelDouble();
beforeEach(async () => {
  harness = await Harness.open();
  await model.open();
  await harness.startWorker(model.env);
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

const write = (path: string, content: string) =>
  ({ type: 'command', command: 'code/write', params: { path, content } }) as const;

const put = (path: string, content: string): void => writeFileSync(join(harness.project, path), content);
const read = (path: string): string => readFileSync(join(harness.project, path), 'utf8');
const here = (): string[] =>
  readdirSync(harness.project)
    .filter((name) => name !== '.sentinel' && name !== '.git')
    .toSorted();

async function undo(...args: string[]): Promise<{ code: number; undone: Undone }> {
  const { code, out } = await harness.command('undo', ...args, '--json');
  return { code, undone: JSON.parse(out) as Undone };
}

/** Every byte of the project's own repository. */
function repository(): string[] {
  const folder = join(harness.project, '.git');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name} ${readFileSync(join(parentPath, name), 'base64')}`)
    .toSorted();
}

test('by step, shells and nested runs included; undone, in conflict, and the undo undone', async () => {
  put('kept.txt', 'k');
  put('notes.txt', 'one\n');
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=a@b', ...args], { cwd: harness.project });
  git('init', '-q');
  git('add', 'notes.txt');
  git('commit', '-qm', 'first');
  put('notes.txt', 'one\nstaged\n');
  git('add', 'notes.txt');
  git('stash');
  const before = repository();
  const inner = counted('inner', 2, [shell('echo $iteration >> made-inside.txt')]);
  const definition = once('changes', [
    shell('echo two >> notes.txt; rm kept.txt; printf "\\033[31mred" > coloured.txt'),
    shell('true'),
    write('made.txt', 'made\n'),
    { type: 'sentinel', definition: inner },
  ]);
  await harness.run(definition, { handle: 'changing' });
  const { out, code } = await harness.command('changes', 'changing');
  expect(code).toBe(0);
  expect(out).toMatch(/^steps\.0@1 {2}shell {2}/m);
  expect(out).toContain('\n+two\n');
  expect(out).toContain('+\\u001b[31mred');
  expect(out).toMatch(/^steps\.2@1 {2}code\/write/m);
  expect(out).toMatch(/^steps\.3@1\/steps\.0@2 {2}shell/m);
  expect(out).not.toContain('steps.1@1');
  const changes = JSON.parse(
    (await harness.command('changes', 'changing', 'steps.3', '--stat', '--json')).out,
  ) as StepChanges[];
  expect(changes.map(({ key, files, patch }) => ({ key, files, patch }))).toEqual([
    {
      key: 'steps.3@1/steps.0@1',
      files: [{ path: 'made-inside.txt', status: 'created', added: 1, removed: 0, others: [] }],
      patch: null,
    },
    {
      key: 'steps.3@1/steps.0@2',
      files: [{ path: 'made-inside.txt', status: 'changed', added: 1, removed: 0, others: [] }],
      patch: null,
    },
  ]);

  put('made.txt', 'by hand');
  const held = await harness.command('undo', 'changing');
  expect(held.code).toBe(1);
  expect(held.out).toContain('≠ made.txt  it was changed since');
  expect(held.out).toContain('Nothing was restored');
  expect(here()).toEqual(['coloured.txt', 'made-inside.txt', 'made.txt', 'notes.txt']);
  put('made.txt', 'made\n');

  expect((await undo('changing', '--dry-run')).undone).toMatchObject({ done: false });
  expect(await undo('changing')).toMatchObject({ code: 0, undone: { done: true, undo: 'undo-1' } });
  expect(here()).toEqual(['kept.txt', 'notes.txt']);
  expect(read('notes.txt')).toBe('one\n');
  expect((await harness.command('undo', 'changing')).out).toBe('There is nothing to take back.\n');
  expect((await harness.command('changes', 'changing', 'undo-1', '--stat')).out).toContain('- made.txt');
  expect((await harness.command('undo', 'changing', 'undo-1')).out).toContain('takes this back');
  expect(here()).toEqual(['coloured.txt', 'made-inside.txt', 'made.txt', 'notes.txt']);
  expect(repository()).toEqual(before);
});

test('a branch, a commit and a merge are shown, and moved back with --refs, so that git says what it said before', async () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=a@b', ...args], {
      cwd: harness.project,
      encoding: 'utf8',
    });
  put('notes.txt', 'one\n');
  put('.gitignore', '.sentinel\n');
  git('init', '-q', '-b', 'main');
  git('add', 'notes.txt', '.gitignore');
  git('commit', '-qm', 'first');
  put('notes.txt', 'staged\n');
  git('add', 'notes.txt');
  const seen = (): string[] => [
    git('status', '--porcelain=v2', '--branch'),
    git('log', '--oneline', '--all'),
    git('branch', '-v'),
  ];
  const before = seen();
  const as = 'git -c user.name=ada -c user.email=a@b';
  await harness.run(
    once('commits', [
      shell(`git checkout -q -b fix; ${as} commit -qm second`),
      shell(`git checkout -q main; ${as} merge -q --no-ff -m merged fix; git tag v1`),
    ]),
    { handle: 'committing' },
  );
  const after = seen();
  const { out } = await harness.command('changes', 'committing', '--stat');
  expect(out).toMatch(/⎇ HEAD {2}main → fix\n/);
  expect(out).toMatch(/⎇ refs\/heads\/fix {2}created [0-9a-f]{7}\n/);
  expect(out).toMatch(/⎇ refs\/tags\/v1 {2}created [0-9a-f]{7}\n/);
  expect(await harness.command('undo', 'committing')).toMatchObject({
    code: 0,
    out: '3 refs were moved: --refs takes them back.\n',
  });
  expect(seen()).toEqual(after);
  git('tag', '-f', 'v1', 'main~1');
  const held = await harness.command('undo', 'committing', '--refs');
  expect(held.code).toBe(1);
  expect(held.out).toContain('≠ refs/tags/v1  it was moved since\nNothing was restored: 1 ref not as the run left it.');
  git('tag', '-f', 'v1', 'main');
  const back = await harness.command('undo', 'committing', '--refs');
  expect(back.out).toContain('3 refs put back. "sentinel undo committing undo-1 --refs" takes this back.\n');
  expect(back.code).toBe(0);
  expect(seen()).toEqual(before);
  expect((await harness.command('undo', 'committing', '--refs')).out).toBe('There is nothing to take back.\n');
  expect((await undo('committing', 'undo-1', '--refs')).undone).toMatchObject({ done: true, conflicts: [] });
  expect(seen()).toEqual(after);
});

test('a run that may write is refused; one that is held is taken back', async () => {
  const handle = 'undone-while-held';
  await harness.start(
    once('holds', [
      shell('echo 1 > one.txt'),
      shell('until [ -e .sentinel/go ]; do sleep 0.05; done'),
      shell('echo 3 > three.txt'),
    ]),
    { handle },
  );
  await harness.untilEvent(handle, ({ type, key }) => type === 'step-started' && key === 'steps.1@1');
  expect(await harness.command('undo', handle)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`sentinel pause ${handle}`) as string,
  });
  await harness.command('pause', handle);
  put('.sentinel/go', '');
  await harness.untilEvent(handle, ({ type, key }) => type === 'step-finished' && key === 'steps.1@1');
  expect(await undo(handle)).toMatchObject({ code: 0, undone: { files: [{ path: 'one.txt', done: 'removed' }] } });
  await harness.command('resume', handle);
  await harness.result(handle);
  expect(here()).toEqual(['three.txt']);
  expect((await harness.command('undo', 'no-such-run')).code).toBe(4);
});

test('a definition takes back what it did, from a step on or as a whole, and not what somebody else did', async () => {
  put('kept.txt', 'k');
  const { result } = await harness.run(
    once('takes-back', [
      shell('echo 1 > one.txt'),
      shell('echo 2 > two.txt; rm kept.txt'),
      { type: 'command', command: 'code/undo', params: { key: 'steps.1' }, outputTo: 'part' },
      shell('ls', { outputTo: 'then' }),
      { type: 'command', command: 'code/undo', params: {}, outputTo: 'all' },
    ]),
  );
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: {
      part: {
        files: [
          { path: 'kept.txt', done: 'restored' },
          { path: 'two.txt', done: 'removed' },
        ],
      },
      then: { stdout: 'kept.txt\none.txt\n' },
      all: { files: [{ path: 'one.txt', done: 'removed' }] },
    },
  });
  expect(here()).toEqual(['kept.txt']);
  await harness.start(
    once('is-refused', [
      shell('echo 1 > one.txt'),
      { type: 'approval', message: 'go on?' },
      { type: 'command', command: 'code/undo' },
    ]),
    { handle: 'undo-meets-a-person' },
  );
  await harness.untilEvent('undo-meets-a-person', ({ type }) => type === 'asked');
  put('one.txt', 'by hand');
  await harness.command('answer', 'undo-meets-a-person', 'approve');
  expect(await harness.result('undo-meets-a-person')).toMatchObject({
    outcome: 'failed',
    failure: { code: 'UNDO_CONFLICT', message: expect.stringContaining('one.txt: it was changed since') as string },
  });
  expect(read('one.txt')).toBe('by hand');
});

test('what a model wrote, and what a background process wrote', async () => {
  model.next(callsTo('c1', 'code_write', { path: 'by-model.txt', content: 'm' }), says('done'));
  await harness.run(
    once('writes', [
      { type: 'llm', model: MODEL, prompt: 'write', tools: ['code/write'], parseToolCalls: true },
      {
        type: 'command',
        command: 'code/shell/execute',
        params: { command: 'echo b > by-process.txt; exec sleep 60', wait: false },
      },
      shell('until [ -s by-process.txt ]; do sleep 0.05; done'),
    ]),
    { handle: 'written-by-others' },
  );
  const stat = async (): Promise<StepChanges[]> =>
    JSON.parse((await harness.command('changes', 'written-by-others', '--stat', '--json')).out) as StepChanges[];
  await until(async () => (await stat()).every(({ state }) => state === 'changed'));
  const found = await stat();
  expect(found.map(({ key, what, isBackground }) => [key, what, isBackground])).toEqual([
    ['steps.0@1/turn.1/call.0', 'code/write', false],
    ['steps.1@1', 'code/shell/execute', true],
  ]);
  const held = await undo('written-by-others');
  expect(held.code).toBe(1);
  expect(held.undone.conflicts.map(({ path }) => path)).toEqual(['by-process.txt']);
  expect(await undo('written-by-others', '--force')).toMatchObject({ code: 0 });
  expect(here()).toEqual([]);
});

test('a worker that is told to keeps no states', async () => {
  const without = await Harness.open();
  await without.startWorker({ SENTINEL_CHECKPOINTS: 'false' });
  const { handle } = await without.run(once('unkept', [shell('echo 1 > one.txt')]));
  expect((await without.command('changes', handle)).out).toBe('Nothing was changed.\n');
  expect(existsSync(join(without.project, '.sentinel', 'checkpoints'))).toBe(false);
  await without.close();
});
