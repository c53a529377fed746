/** What a model gets through `code/git` is what it gets through files: nothing protected, nothing out of the project. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../activities/commands/command.ts';
import { builtInCommands, createRegistry } from '../../activities/commands/registry.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { commandContext } from '../activities/harness/command-context.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { useStore } from '../store/harness/opened.ts';
import { repository } from '../activities/harness/repository.ts';

const HIDDEN = 'nobody-may-see-this';
const registry = createRegistry(builtInCommands());
const opened = useStore();
let project: string;

const git = async (...args: string[]): Promise<string> => (await execa('git', args, { cwd: project })).stdout;
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
