import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { tryEvaluate } from '../../../language/expression/evaluate.ts';
import { scopeOf } from '../../../language/expression/scope.ts';
import { commandContext } from '../harness/command-context.ts';
import { repository } from '../harness/repository.ts';
import { adoptHome } from '../../../services/home/own-home.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();

const run = (project: string, params: object, attempt = 1) =>
  registry.run('code/git', { ...params }, commandContext(project, { attempt }));

describe('code/git', () => {
  it.each(['.sentinel', '[o]dd*/hom?e\\', '-state'])('adds all but a home that is ignored: %s', async (home) => {
    const project = await repository();
    await mkdir(join(project, home, 'checkpoints'), { recursive: true });
    await writeFile(join(project, home, 'services.json'), '{}');
    adoptHome(join(project, home));
    const ignored = `/${home.replaceAll(/[\\*?[\]]/g, '\\$&')}\n`;
    for (const ignores of [ignored, '']) {
      await writeFile(join(project, '.gitignore'), ignores);
      await writeFile(join(project, 'b.txt'), ignores);
      expect(await run(project, { operation: 'add', paths: '.' })).toMatchObject({ paths: ['.'] });
      const { stdout } = await execa('git', ['ls-files'], { cwd: project });
      expect(stdout.split('\n')).toEqual(['.gitignore', 'a.txt', 'b.txt']);
    }
  });

  it('takes a path as the path of a file, and never as a pattern', async () => {
    const project = await repository();
    await mkdir(join(project, 'app', '[id]'), { recursive: true });
    await mkdir(join(project, 'app', 'i'), { recursive: true });
    const names = ['app/[id]/page.ts', 'app/i/page.ts', '*.txt', 'b.txt', '?', 'q', '!x', '^x'];
    for (const name of names) await writeFile(join(project, name), 'one\n');
    const staged = async (): Promise<string[]> =>
      (await execa('git', ['-c', 'core.quotePath=false', 'diff', '--cached', '--name-only'], { cwd: project })).stdout
        .split('\n')
        .filter(Boolean);
    for (const paths of ['app/[id]/page.ts', ['*.txt'], '?', '!x', '^x']) {
      await run(project, { operation: 'add', paths });
      expect(await staged()).toEqual([paths].flat());
      expect(await run(project, { operation: 'status', paths })).toMatchObject({
        files: [{ path: [paths].flat()[0] }],
      });
      expect(await run(project, { operation: 'diff', staged: true, paths })).toMatchObject({
        diff: expect.stringMatching(/^diff --git (?:(?!diff --git)[^])*$/),
      });
      await run(project, { operation: 'unstage', paths });
      expect(await staged()).toEqual([]);
    }
    for (const name of names) await run(project, { operation: 'add', paths: name });
    await run(project, { operation: 'commit', message: 'all' });
    for (const name of names) await writeFile(join(project, name), 'two\n');
    await run(project, { operation: 'restore', paths: ['app/[id]/page.ts', '*.txt'] });
    expect(await run(project, { operation: 'status' })).toMatchObject({
      output: ['.M !x', '.M ?', '.M ^x', '.M app/i/page.ts', '.M b.txt', '.M q'].join('\n'),
    });
    await expect(run(project, { operation: 'add', paths: '*.md' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
  });

  it('goes from a change to a pushed commit', async () => {
    const project = await repository();
    const remote = await temporaryFolder();
    await execa('git', ['init', '--quiet', '--bare', remote]);
    await execa('git', ['remote', 'add', 'origin', remote], { cwd: project });
    await writeFile(join(project, 'a.txt'), 'two\n');
    expect(await run(project, { operation: 'diff' })).toMatchObject({
      operation: 'diff',
      diff: expect.stringMatching(/-one\n\+two\n/),
    });
    expect(await run(project, { operation: 'add', paths: 'a.txt' })).toMatchObject({ paths: ['a.txt'] });
    expect(await run(project, { operation: 'diff' })).toMatchObject({ diff: '', output: '' });
    expect(await run(project, { operation: 'diff', staged: true, paths: ['a.txt'] })).toMatchObject({
      diff: expect.stringContaining('+two'),
    });
    const message = '-m second\n\n# not a comment "$(id)"';
    expect(await run(project, { operation: 'commit', message })).toMatchObject({
      committed: true,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(await run(project, { operation: 'log', count: 1 })).toMatchObject({
      output: expect.stringMatching(/^[0-9a-f]{7} -m second$/),
      commits: [{ author: 'Tester', subject: '-m second', body: '# not a comment "$(id)"' }],
    });
    expect(await run(project, { operation: 'log', format: '%s' })).toMatchObject({
      output: '-m second\nfirst\n',
      commits: [{}, { subject: 'first' }],
    });
    expect(await run(project, { operation: 'diff', base: 'HEAD~1' })).toMatchObject({
      diff: expect.stringContaining('+two'),
    });
    expect(await run(project, { operation: 'push', branch: 'main' })).toMatchObject({
      operation: 'push',
      remote: 'origin',
      branch: 'main',
    });
    expect((await execa('git', ['log', '--format=%s', 'main'], { cwd: remote })).stdout).toBe('-m second\nfirst');
  });

  it('commits once, however often the step runs', async () => {
    const project = await repository();
    expect(await run(project, { operation: 'commit', message: 'nothing' })).toMatchObject({ committed: false });
    await writeFile(join(project, 'a.txt'), 'two\n');
    await run(project, { operation: 'add', paths: ['.'] });
    const first = await run(project, { operation: 'commit', message: 'second' });
    const again = await run(project, { operation: 'commit', message: 'second' }, 2);
    expect(again).toMatchObject({ committed: true, commit: (first as { commit: string }).commit });
    expect(await run(project, { operation: 'commit', message: 'second' })).toMatchObject({ committed: false });
    expect(await run(project, { operation: 'log', count: 10 })).toMatchObject({
      commits: [{ subject: 'second' }, { subject: 'first' }],
    });
  });

  it.each<[object, string]>([
    [{ operation: 'add', paths: ['--all'] }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'add', paths: [':/'] }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'add', paths: [] }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'add', paths: ['../x'] }, 'PATH_OUTSIDE_PROJECT'],
    [{ operation: 'add', paths: ['missing'] }, 'GIT_FAILED'],
    [{ operation: 'diff', base: '--output=x' }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'diff', base: 'nosuch' }, 'GIT_FAILED'],
    [{ operation: 'push', remote: 'ext::sh -c id' }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'push', branch: '+main' }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'push', branch: ':main' }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'push' }, 'GIT_FAILED'],
    [{ operation: 'rebase' }, 'COMMAND_PARAMS_INVALID'],
    [{ operation: 'commit', message: ' ' }, 'COMMAND_PARAMS_INVALID'],
  ])('refuses %j with %s', async (params, code) => {
    await expect(run(await repository(), params)).rejects.toMatchObject({ code });
  });

  it('says what git said where there is no repository', async () => {
    const project = await temporaryFolder();
    await mkdir(join(project, '.git'));
    await expect(run(project, { operation: 'log' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('not a git repository'),
    });
  });
});

it('code/git says with a diff whether there is one, as a condition asks', async () => {
  const project = await repository();
  const hasChanges = async (): Promise<unknown> => {
    const diff = await run(project, { operation: 'diff', staged: true });
    return tryEvaluate('$diff.length > 0', scopeOf({ diff }));
  };
  expect(await hasChanges()).toEqual({ ok: true, value: false });
  await writeFile(join(project, 'a.txt'), 'two\n');
  expect(await run(project, { operation: 'diff' })).toMatchObject({ length: expect.any(Number) });
  await run(project, { operation: 'add', paths: ['a.txt'] });
  expect(await hasChanges()).toEqual({ ok: true, value: true });
});
