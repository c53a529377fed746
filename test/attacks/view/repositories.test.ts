/** What a model's processes find of repositories: nothing, whatever is kept in them, unless the definition names it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { builtInCommands, createRegistry } from '../../../activities/commands/registry.ts';
import { runShell, type ShellResult } from '../../../activities/shell/run-shell.ts';
import { commandContext } from '../../activities/harness/command-context.ts';
import { repository } from '../../activities/harness/repository.ts';
import { shellContext } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';

const registry = createRegistry(builtInCommands());

const byModel = (project: string, command: string, allowed: string[] = []): Promise<ShellResult> =>
  runShell(
    { command, timeoutMs: 30_000 },
    shellContext(project, { confinement: { mode: 'sandboxed', byModel: true }, reach: { files: allowed } }),
  );

async function put(project: string, path: string, content = 's3cret'): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), content);
}

const git = (cwd: string, ...args: string[]): Promise<unknown> =>
  execa('git', ['-c', 'protocol.file.allow=always', ...args], { cwd });

describe.runIf(hasSandbox)('in a repository', () => {
  it.each([
    '.git/config',
    '.git/config.worktree',
    '.git/FETCH_HEAD',
    '.git/logs/HEAD',
    '.git/credentials',
    '.git/hooks/pre-push',
    '.git/worktrees/one/config.worktree',
    '.git/modules/sub/config',
    '.git/modules/libs/deep/er/config',
    '.hg/hgrc',
    '.jj/repo/config.toml',
    '.svn/pristine/ab/abcd.svn-base',
    'nested/.git/config',
    'nested/.HG/hgrc',
  ])('a model reads no %s, and a step of the definition does', async (path) => {
    const project = await repository();
    await put(project, path);
    expect((await byModel(project, `grep -r s3cret .; cat ${path}`)).stdout).toBe('');
    const { stdout } = await shell(project, { command: `cat ${path}; echo x > ${path} || echo REFUSED` });
    expect(stdout).toBe('s3cretREFUSED\n');
  });

  it('a model reads no secret that was committed, by no copy of objects', async () => {
    const project = await repository();
    const sub = await repository();
    for (const folder of [project, sub]) {
      await put(folder, '.env');
      await git(folder, 'add', '--all', '--force');
      await git(folder, 'commit', '--quiet', '--message=with a secret');
    }
    await git(project, 'submodule', 'add', '--quiet', sub, 'sub');
    const attempt = `git show HEAD:.env; git -C sub show HEAD:.env
      cp -r .git/objects /tmp/o; git init -q /tmp/r; rm -rf /tmp/r/.git/objects; mv /tmp/o /tmp/r/.git/objects
      cd /tmp/r; git cat-file --batch-all-objects --batch`;
    expect((await byModel(project, attempt)).stdout).toBe('');
    expect((await shell(project, { command: attempt })).stdout.match(/s3cret/g)).toHaveLength(3);
  });

  it('a model that the definition gives one works with git, and writes none of it', async () => {
    const project = await repository();
    await put(project, 'a.txt', 'changed\n');
    const { stdout } = await byModel(project, 'git status --porcelain; git commit -qam x || echo REFUSED', ['.git']);
    expect(stdout).toBe(' M a.txt\nREFUSED\n');
  });

  it('code/git works for it all the same', async () => {
    const project = await repository();
    await put(project, 'a.txt', 'changed\n');
    const context = commandContext(project, { confinement: { mode: 'sandboxed', byModel: true } });
    expect(await registry.run('code/git', { operation: 'status' }, context)).toMatchObject({ output: '.M a.txt' });
    await registry.run('code/git', { operation: 'add', paths: 'a.txt' }, context);
    await registry.run('code/git', { operation: 'commit', message: 'mine' }, context);
    expect((await shell(project, { command: 'git log -1 --format=%s' })).stdout).toBe('mine\n');
  });
});
