/** What a model's processes find of repositories: nothing, whatever is kept in them, unless the definition names it. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { runShell, type ShellResult } from '../../../operations/shell/run-shell.ts';
import { commandContext } from '../../activities/harness/command-context.ts';
import { repository } from '../../activities/harness/repository.ts';
import { pathsIn, writtenProject } from '../../activities/harness/written-project.ts';
import { isOfRecord } from '../../../world/git/trees/entries.ts';
import { diffTrees } from '../../../world/git/trees/tree-diffs.ts';
import { shellContext, temporaryFolder } from '../../activities/harness/step-context.ts';
import { hasSandbox, shell } from '../inside.ts';

const registry = builtInRegistry();

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

  it('that has another name, and to which a file or a link leads, it is the same', async () => {
    const project = await temporaryFolder();
    await git(project, 'init', '--quiet', '--separate-git-dir', '.bare', '.');
    await git(project, 'init', '--quiet', '--bare', 'store');
    await put(project, 'store/config');
    await put(project, 'sub/a.txt', 'x');
    await symlink('../store', join(project, 'sub/.git'));
    await put(project, '.bare/config');
    const attempt =
      'grep -r s3cret .; echo x >> .bare/config && echo WRITTEN; echo x > store/hooks/pre-commit && echo WRITTEN';
    expect((await byModel(project, attempt)).stdout).not.toContain('s3cret');
    expect((await shell(project, { command: attempt })).stdout.split('\n').filter(Boolean).toSorted()).toEqual([
      './.bare/config:s3cret',
      './store/config:s3cret',
    ]);
    const model = commandContext(project, { confinement: { byModel: true } });
    for (const path of ['.bare/config', 'store/config'])
      for (const [name, params] of [
        ['code/read', { path }],
        ['code/write', { path, content: 'x' }],
      ] as const)
        await expect(registry.run(name, params, model)).rejects.toMatchObject({ code: 'PATH_PROTECTED' });
  });

  it('without a work tree, a model reads nothing, and a step of the definition works in it', async () => {
    const project = await temporaryFolder();
    await git(project, 'init', '--quiet', '--bare', 'mirror.git');
    await put(project, 'mirror.git/config', '[remote "o"]\n\turl = https://me:s3cret@example.org\n');
    expect((await byModel(project, 'grep -r s3cret .')).stdout).toBe('');
    const { stdout } = await shell(project, {
      command: 'git -C mirror.git config user.name me && grep -c s3cret mirror.git/config',
    });
    expect(stdout).toBe('1\n');
  });
});

describe('a step that makes a folder look like a repository', () => {
  it('hides no change in it, and keeps no step after it from it', async () => {
    const { project, trees, write } = await writtenProject({ 'src/a.ts': 'a', 'src/refs.ts': 'a' });
    await (await trees()).take();
    write({
      'src/HEAD': 'x',
      'src/refs/x': 'x',
      'src/objects/evil.ts': 'x',
      'src/evil.ts': 'x',
      'sub/.git': 'gitdir: ../other\n',
      'other/b.ts': 'b',
    });
    const opened = await trees();
    const { tree } = await opened.take();
    const paths = await pathsIn(opened, tree);
    for (const path of ['src/evil.ts', 'src/objects/evil.ts', 'other/b.ts']) expect(paths).toContain(`100644 ${path}`);
    if (hasSandbox)
      expect(
        (await shell(project, { command: 'cat other/b.ts && echo x > other/b.ts && echo x > src/a.ts' })).success,
      ).toBe(true);
  });

  it('and what git keeps in one of another name is no change of files', async () => {
    const { project, trees } = await writtenProject({ 'a.txt': 'a' });
    await git(project, 'init', '--quiet', '--separate-git-dir', '.bare', '.');
    const opened = await trees();
    const { tree } = await opened.take();
    await git(project, 'add', '.');
    await git(project, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '--quiet', '--message=x');
    const [changes] = await diffTrees(opened.git, [{ before: tree, after: (await opened.take()).tree }]);
    expect(changes?.map(({ path }) => path).filter((path) => !isOfRecord(path))).toEqual(['.bare/COMMIT_EDITMSG']);
  });
});
