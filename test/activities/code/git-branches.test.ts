/** `code/git` beyond the everyday operations: commits that are shown, branches, the work tree, stashes, remotes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { permissionOfCommand } from '../../../language/permissions.ts';
import { adoptHome } from '../../../services/home/own-home.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { repository } from '../harness/repository.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();
let project: string;
let context: CommandContext;

const git = async (...args: string[]): Promise<string> => (await execa('git', args, { cwd: project })).stdout;
const write = (path: string, text: string): Promise<void> => writeFile(join(project, path), text);
const read = (path: string): Promise<string> => readFile(join(project, path), 'utf8');
const run = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('code/git', params, { ...context, ...over });

async function commit(message: string): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', `--message=${message}`);
}

beforeEach(async () => {
  project = await repository();
  context = commandContext(project, { store: opened.store });
});

describe('commits and branches', () => {
  it('shows a commit, what it did to paths, and a file as it was', async () => {
    await write('a.txt', 'two\n');
    await write('b.txt', 'b\n');
    await commit('second');
    expect(await run({ operation: 'show' })).toMatchObject({
      output: expect.stringMatching(/second[^]*-one\n\+two/) as string,
    });
    expect(await run({ operation: 'show', paths: 'b.txt' })).toMatchObject({
      output: expect.not.stringContaining('+two') as string,
    });
    expect(await run({ operation: 'show', commit: 'HEAD~1', file: 'a.txt' })).toMatchObject({
      output: 'one\n',
      file: 'a.txt',
    });
    for (const mode of ['readonly', 'sandboxed'] as const)
      expect(
        await run({ operation: 'show', commit: 'HEAD~1', file: './a.txt' }, { confinement: { mode } }),
      ).toMatchObject({ output: 'one\n' });
  });

  it('makes, lists, switches and deletes branches, once', async () => {
    await run({ operation: 'branch', name: 'topic' });
    await run({ operation: 'branch', name: 'topic' }, { attempt: 2 });
    await expect(run({ operation: 'branch', name: 'topic' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await run({ operation: 'switch', branch: 'other', create: true });
    await run({ operation: 'switch', branch: 'other', create: true }, { attempt: 2 });
    const commitId = await git('rev-parse', 'HEAD');
    expect(await run({ operation: 'branches' })).toMatchObject({
      current: 'other',
      output: '  main\n* other\n  topic',
      branches: [{ name: 'main', commit: commitId, upstream: null }, { name: 'other' }, { name: 'topic' }],
    });
    expect(await run({ operation: 'delete-branch', name: 'topic' })).toMatchObject({ commit: commitId });
    expect(await run({ operation: 'delete-branch', name: 'topic' }, { attempt: 2 })).toMatchObject({ commit: null });
    await run({ operation: 'switch', branch: 'main' });
    expect(await git('branch', '--show-current')).toBe('main');
  });

  it('merges, and gives conflicts back', async () => {
    await git('switch', '--quiet', '--create', 'topic');
    await write('b.txt', 'b\n');
    await commit('b');
    await git('switch', '--quiet', 'main');
    await write('c.txt', 'c\n');
    await commit('c');
    expect(await run({ operation: 'merge', branch: 'topic', message: 'both' })).toMatchObject({
      merged: true,
      conflicts: [],
    });
    expect(await git('log', '-1', '--format=%s')).toBe('both');
    await git('switch', '--quiet', 'topic');
    await write('a.txt', 'topic\n');
    await commit('topic');
    await git('switch', '--quiet', 'main');
    await write('a.txt', 'main\n');
    await commit('main');
    expect(await run({ operation: 'merge', branch: 'topic' })).toMatchObject({ merged: false, conflicts: ['a.txt'] });
    expect(await read('a.txt')).toContain('<<<<<<<');
    await expect(run({ operation: 'merge', branch: 'gone' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });
});

describe('the work tree', () => {
  it('takes back what is staged, and what is changed', async () => {
    await write('a.txt', 'two\n');
    await git('add', 'a.txt');
    await run({ operation: 'unstage', paths: 'a.txt' });
    expect(await git('diff', '--cached')).toBe('');
    await run({ operation: 'restore', paths: ['a.txt'] });
    expect(await read('a.txt')).toBe('one\n');
  });

  it('puts changes aside and takes them again, each once', async () => {
    await write('a.txt', 'two\n');
    const stash = { operation: 'stash', message: 'later' };
    expect(await run(stash)).toMatchObject({ stashed: true });
    expect(await run(stash, { attempt: 2 })).toMatchObject({ stashed: true });
    expect(await run(stash, { key: 'steps.1@1' })).toMatchObject({ stashed: false });
    expect(await read('a.txt')).toBe('one\n');
    await write('new.txt', 'new\n');
    await run({ operation: 'stash', untracked: true }, { key: 'steps.2@1' });
    expect(existsSync(join(project, 'new.txt'))).toBe(false);
    expect(await run({ operation: 'stashes' })).toMatchObject({
      stashes: [{}, { message: expect.stringContaining('later') as string }],
    });
    const unstash = { operation: 'unstash' };
    const taken = await run(unstash, { key: 'steps.3@1' });
    expect(await read('new.txt')).toBe('new\n');
    expect(await run(unstash, { key: 'steps.3@1', attempt: 2 })).toMatchObject({
      commit: (taken as { commit: string }).commit,
    });
    expect(await read('a.txt')).toBe('one\n');
    await run(unstash, { key: 'steps.4@1' });
    expect(await read('a.txt')).toBe('two\n');
    await expect(run(unstash, { key: 'steps.5@1' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });
});

it('fetches and pulls what goes forwards', async () => {
  const remote = await temporaryFolder();
  await execa('git', ['clone', '--quiet', '--bare', project, remote]);
  await git('remote', 'add', 'origin', remote);
  const other = await temporaryFolder();
  await execa('git', ['clone', '--quiet', remote, other]);
  await writeFile(join(other, 'a.txt'), 'theirs\n');
  await execa(
    'git',
    ['-c', 'user.name=O', '-c', 'user.email=o@example.org', 'commit', '--quiet', '--all', '--message=theirs'],
    { cwd: other },
  );
  await execa('git', ['push', '--quiet'], { cwd: other });
  await run({ operation: 'fetch' });
  expect(await git('log', '-1', '--format=%s', 'origin/main')).toBe('theirs');
  expect(await run({ operation: 'pull' })).toMatchObject({
    branch: 'main',
    commit: await git('rev-parse', 'origin/main'),
  });
  expect(await read('a.txt')).toBe('theirs\n');
});

it('adds all but homes of Sentinel, where they are ignored, too', async () => {
  const homes = ['.sentinel', 'old home', 'a/[b]*-home'];
  for (const home of homes) {
    await mkdir(join(project, home), { recursive: true });
    await write(`${home}/services.json`, 'x');
    adoptHome(join(project, home));
  }
  await write('.gitignore', '.sentinel\n/old home\n');
  await write('b.txt', 'b\n');
  await run({ operation: 'add', paths: '.' });
  expect((await git('diff', '--cached', '--name-only')).split('\n')).toEqual(['.gitignore', 'b.txt']);
});

it('writes no home of Sentinel that a commit holds', async () => {
  await git('switch', '--quiet', '--create', 'bad');
  await mkdir(join(project, '.sentinel'));
  await write('.sentinel/postgres.password', 'x');
  await git('add', '--force', '.sentinel');
  await commit('bad');
  await git('switch', '--quiet', 'main');
  for (const operation of ['switch', 'merge'])
    await expect(run({ operation, branch: 'bad' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
  await expect(run({ operation: 'restore', paths: '.sentinel', from: 'bad' })).rejects.toMatchObject({
    code: 'PATH_PROTECTED',
  });
  expect(existsSync(join(project, '.sentinel'))).toBe(false);
});

it.each([
  [{ operation: 'switch', branch: '--orphan' }],
  [{ operation: 'branch', name: 'a b' }],
  [{ operation: 'show', commit: 'HEAD:a.txt' }],
  [{ operation: 'show', file: '-a' }],
  [{ operation: 'restore', paths: [':/'] }],
  [{ operation: 'fetch', remote: 'ext::sh -c id' }],
])('takes %j for no parameter', async (params) => {
  await expect(run(params)).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

const classOf = (operation: string): string => permissionOfCommand(registry.catalogue, 'code/git', { operation });

it('states what each operation may do', () => {
  expect(['show', 'branches', 'stashes'].map(classOf)).toEqual(['read', 'read', 'read']);
  expect(['branch', 'switch', 'unstage', 'stash', 'unstash', 'merge'].map(classOf)).toEqual(
    Array.from({ length: 6 }, () => 'write'),
  );
  expect(['restore', 'delete-branch', 'fetch', 'pull'].map(classOf)).toEqual([
    'delete',
    'delete',
    'network',
    'network',
  ]);
});
