/** What a model gets through `code/git` is what it gets through files: nothing protected, nothing out of the project. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../operations/command.ts';
import { builtInRegistry } from '../../systems/built-in.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { commandContext } from '../activities/harness/command-context.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { useStore } from '../store/harness/opened.ts';
import { repository } from '../activities/harness/repository.ts';

const HIDDEN = 'nobody-may-see-this';
const registry = builtInRegistry();
const opened = useStore();
let project: string;

const git = async (...args: string[]): Promise<string> => (await execa('git', args, { cwd: project })).stdout;
const inner = (...args: string[]) => execa('git', args, { cwd: join(project, 'sub') });
async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), text);
}
const run = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('code/git', params, commandContext(project, { store: opened.store, ...over }));
const byModel = (params: JsonObject, files: string[] = []): Promise<Json> =>
  run(params, { confinement: { byModel: true }, reach: { files } });

async function commit(message: string): Promise<void> {
  await git('add', '--all', '--force');
  await git('commit', '--quiet', `--message=${message}`);
}

beforeEach(async () => {
  project = await repository();
});

describe('what commits hold', () => {
  beforeEach(async () => {
    await write('.env', `KEY=${HIDDEN}\n`);
    await write('config/prod.pem', HIDDEN);
    await write('b.txt', 'b\n');
    await commit('second');
  });

  it('is shown without files with secrets, however the commit is named', async () => {
    const said = JSON.stringify(await byModel({ operation: 'show' }));
    expect(said).toContain('b.txt');
    expect(said).not.toContain(HIDDEN);
    await expect(byModel({ operation: 'show', paths: '.env' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    for (const file of ['.env', './config/../.env', 'config/prod.pem'])
      await expect(byModel({ operation: 'show', file })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
  });

  it('is shown of commits, not of what else has an id', async () => {
    const blob = await git('rev-parse', 'HEAD:.env');
    const tree = await git('rev-parse', 'HEAD^{tree}');
    await git('tag', 'secret', blob);
    for (const name of [blob, blob.slice(0, 8), 'secret', tree, 'HEAD^{tree}'])
      await expect(byModel({ operation: 'show', commit: name }), name).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await expect(byModel({ operation: 'diff', base: blob })).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await git('tag', '--annotate', '--message=of a commit', 'v1');
    expect(JSON.stringify(await byModel({ operation: 'show', commit: 'v1' }))).toContain('b.txt');
  });

  it('is not shown, compared or restored by the ids of folders', async () => {
    const root = await git('rev-parse', 'HEAD^{tree}');
    const folder = await git('rev-parse', 'HEAD:config');
    const empty = await git('hash-object', '-t', 'tree', '/dev/null');
    await git('tag', 'folder', folder);
    // In them a file has another name, and none that says that it holds secrets.
    await write('plain', HIDDEN);
    await commit('plain');
    for (const tree of [root, root.slice(0, 8), folder, 'folder', 'HEAD^{tree}', 'HEAD~1^{tree}'])
      for (const params of [
        { operation: 'show', commit: tree, file: 'b.txt' },
        { operation: 'diff', base: tree },
        { operation: 'diff', base: `${tree}..HEAD` },
        { operation: 'diff', base: `HEAD^{tree}..${tree}` },
        { operation: 'diff', base: `${empty}..${tree}` },
        { operation: 'diff', base: `${tree}...` },
        { operation: 'restore', from: tree, paths: '.' },
      ])
        await expect(byModel(params), JSON.stringify(params)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    // A definition names what it likes.
    expect(await run({ operation: 'diff', base: `${empty}..${root}` })).toMatchObject({
      output: expect.stringContaining('b.txt') as string,
    });
  });

  it('is shown, compared and restored by every name of a commit', async () => {
    await git('tag', '--annotate', '--message=of a commit', 'v1');
    await git('branch', 'topic/one', 'HEAD~1');
    await write('b.txt', 'changed\n');
    const id = await git('rev-parse', 'HEAD');
    for (const name of ['HEAD', 'v1', 'main', id, id.slice(0, 9), 'main@{0}', 'v1^{}'])
      expect(await byModel({ operation: 'show', commit: name, file: './b.txt' }), name).toMatchObject({
        output: 'b\n',
        commit: name,
      });
    for (const base of ['HEAD', 'v1', 'topic/one', 'topic/one..', 'topic/one...v1', '..HEAD~1', `HEAD^..${id}`])
      expect(await byModel({ operation: 'diff', base }), base).toMatchObject({
        output: expect.stringContaining('b.txt') as string,
      });
    await byModel({ operation: 'restore', from: 'v1', paths: 'b.txt' });
    expect(await readFile(join(project, 'b.txt'), 'utf8')).toBe('b\n');
    await expect(byModel({ operation: 'diff', base: 'nowhere' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('"nowhere" names no commit') as string,
    });
  });

  it('is shown of the project, where the repository is larger', async () => {
    await write('app/x.js', 'x\n');
    await write('other/y.js', 'y of others\n');
    await commit('third');
    await write('.env', `KEY=${HIDDEN}-changed\n`);
    await write('app/x.js', 'x changed\n');
    await write('other/y.js', 'y of others changed\n');
    const within = commandContext(join(project, 'app'), { confinement: { byModel: true } });
    for (const params of [{ operation: 'show' }, { operation: 'diff' }, { operation: 'diff', base: 'HEAD' }]) {
      const said = JSON.stringify(await registry.run('code/git', params, within));
      expect(said).toContain('x.js');
      expect(said).not.toMatch(/nobody-may|of others/);
    }
    expect(await registry.run('code/git', { operation: 'status' }, within)).toMatchObject({ output: '.M x.js' });
  });

  it('is not stashed away, and not shown of a stash', async () => {
    await write('.env', `KEY=${HIDDEN}-changed\n`);
    await write('.env.local', HIDDEN);
    await write('sentinels/mine.json', '{}');
    await write('b.txt', 'changed\n');
    await byModel({ operation: 'stash', untracked: true });
    expect(await readFile(join(project, '.env'), 'utf8')).toContain('changed');
    expect(existsSync(join(project, '.env.local'))).toBe(true);
    expect(existsSync(join(project, 'sentinels/mine.json'))).toBe(true);
    expect(await readFile(join(project, 'b.txt'), 'utf8')).toBe('b\n');
    await run({ operation: 'stash', untracked: true });
    for (const name of ['stash@{0}', 'stash@{0}^3', 'stash'])
      expect(JSON.stringify(await byModel({ operation: 'show', commit: name }))).not.toContain(HIDDEN);
    await expect(byModel({ operation: 'show', commit: 'stash', file: '.env' })).rejects.toMatchObject({
      code: 'PATH_PROTECTED',
    });
    await expect(byModel({ operation: 'unstash' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    await run({ operation: 'unstash' });
    await byModel({ operation: 'unstash' });
    expect(await readFile(join(project, 'b.txt'), 'utf8')).toBe('changed\n');
  });
});

describe('a submodule', () => {
  beforeEach(async () => {
    const other = await repository(await temporaryFolder());
    await git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub');
    await commit('sub');
    await write('sub/.env', `KEY=${HIDDEN}\n`);
    await inner('add', '--all', '--force');
    await inner('-c', 'user.name=T', '-c', 'user.email=t@example.org', 'commit', '--quiet', '--message=secret');
    await write('sub/.env', `KEY=${HIDDEN}-changed\n`);
    await git('config', 'diff.submodule', 'diff');
  });

  it('shows a model which commit it is at, and nothing that is in it', async () => {
    expect(await git('diff')).toContain(HIDDEN);
    const looks = [{ operation: 'diff' }, { operation: 'diff', base: 'HEAD' }, { operation: 'status' }];
    for (const params of looks) {
      const said = JSON.stringify(await byModel(params));
      expect(said).toContain('sub');
      expect(said).not.toContain(HIDDEN);
    }
    await commit('moved');
    const said = JSON.stringify(await byModel({ operation: 'show' }));
    expect(said).toContain('Subproject commit');
    expect(said).not.toContain(HIDDEN);
    expect(JSON.stringify(await run({ operation: 'show' }))).toContain(HIDDEN);
  });

  it('starts no program for a look of a model', async () => {
    await inner('config', 'core.fsmonitor', `touch ${join(project, 'started')} #`);
    for (const operation of ['diff', 'status', 'show']) await byModel({ operation });
    expect(existsSync(join(project, 'started'))).toBe(false);
  });

  it('is not restored by a model', async () => {
    await commit('moved');
    await git('config', 'submodule.recurse', 'true');
    await rm(join(project, 'sub/.env'));
    await byModel({ operation: 'restore', paths: '.' });
    expect(existsSync(join(project, 'sub/.env'))).toBe(false);
    await run({ operation: 'restore', paths: '.' });
    expect(existsSync(join(project, 'sub/.env'))).toBe(true);
  });
});

describe.each([
  ['.env', 'KEY=other\n'],
  ['keys/id_rsa', 'other\n'],
  ['sentinels/theirs.json', '{}\n'],
  ['sentinel.config.ts', 'export default {};\n'],
])('a branch that brings %s', (path, text) => {
  const folder = path.split('/')[0] ?? '';
  beforeEach(async () => {
    await git('switch', '--quiet', '--create', 'topic');
    await write(path, text);
    await write('b.txt', 'b\n');
    await commit('theirs');
    await git('switch', '--quiet', 'main');
  });

  it('is brought in by a definition, and by no model', async () => {
    for (const operation of ['switch', 'merge'])
      await expect(byModel({ operation, branch: 'topic' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    await git('tag', 'topic', 'main');
    await expect(byModel({ operation: 'switch', branch: 'topic' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    await git('tag', '--delete', 'topic');
    await git('remote', 'add', 'origin', project);
    await expect(byModel({ operation: 'pull', branch: 'topic' })).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    // A folder is restored without it.
    await byModel({ operation: 'restore', paths: '.', from: 'topic' });
    expect(existsSync(join(project, path))).toBe(false);
    expect(await readFile(join(project, 'b.txt'), 'utf8')).toBe('b\n');
    await rm(join(project, 'b.txt'));
    await run({ operation: 'merge', branch: 'topic' });
    expect(await readFile(join(project, path), 'utf8')).toBe(text);
  });

  it('is brought in by no model that works in a folder of the repository', async () => {
    await mkdir(join(project, 'app'));
    const within = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
      registry.run('code/git', params, commandContext(join(project, 'app'), { store: opened.store, ...over }));
    await git('remote', 'add', 'origin', project);
    for (const operation of ['switch', 'merge', 'pull'])
      await expect(
        within({ operation, branch: 'topic' }, { confinement: { byModel: true } }),
        operation,
      ).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
    expect(existsSync(join(project, path))).toBe(false);
    await within({ operation: 'merge', branch: 'topic' });
    expect(await readFile(join(project, path), 'utf8')).toBe(text);
  });

  it('is brought in by a model where the definition names it', async () => {
    await byModel({ operation: 'merge', branch: 'topic' }, [folder]);
    expect(await readFile(join(project, path), 'utf8')).toBe(text);
  });

  it('keeps no model from a branch that only does not have it', async () => {
    await git('switch', '--quiet', 'topic');
    await git('branch', 'more');
    await git('switch', '--quiet', '--create', 'old', 'main');
    await write('c.txt', 'c\n');
    await commit('c');
    await git('switch', '--quiet', 'topic');
    await byModel({ operation: 'merge', branch: 'old' });
    expect((await readdir(project)).toSorted()).toContain('c.txt');
  });
});

describe('remotes', () => {
  it.each(['push', 'fetch', 'pull'])('%s takes a remote that is configured, and no path', async (operation) => {
    const elsewhere = await repository(await temporaryFolder());
    await execa('git', ['clone', '--quiet', elsewhere, join(project, 'inner')]);
    for (const remote of [elsewhere, '../other', '.', 'inner', 'nowhere'])
      await expect(byModel({ operation, remote }), remote).rejects.toMatchObject({
        code: 'GIT_FAILED',
        message: expect.stringContaining('no remote') as string,
      });
    expect(existsSync(join(project, '.git/FETCH_HEAD'))).toBe(false);
  });

  it('fetches from one that is configured', async () => {
    const elsewhere = await repository(await temporaryFolder());
    await git('remote', 'add', 'team/upstream', elsewhere);
    expect(await byModel({ operation: 'fetch', remote: 'team/upstream' })).toMatchObject({ remote: 'team/upstream' });
  });
});
