/** What a repository in a project has from elsewhere, by any way that git knows: `code/git` reads none of it. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { repository } from '../activities/harness/repository.ts';
import { temporaryFolder } from '../activities/harness/step-context.ts';
import { command } from './inside.ts';

const git = async (cwd: string, ...args: string[]): Promise<string> => (await execa('git', args, { cwd })).stdout;

/** Of somebody else: a repository with a commit that nobody is to see. */
async function others(): Promise<string> {
  const folder = await repository();
  await git(folder, 'commit', '--quiet', '--allow-empty', '--message=s3cret');
  return folder;
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The branch is at a commit of theirs, whose objects come in some way. */
async function pointsAt(project: string, other: string): Promise<void> {
  await put(join(project, '.git/refs/heads/main'), `${await git(other, 'rev-parse', 'HEAD')}\n`);
}

const alternates = (project: string, text: string) => put(join(project, '.git/objects/info/alternates'), text);

async function replace(place: string, target: string): Promise<void> {
  await rm(place, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  await symlink(target, place);
}

type Way = (project: string, other: string) => Promise<unknown>;
const ways: [string, Way][] = [
  [
    'objects of who lends to who lends',
    async (project, other) => {
      await put(join(project, 'between/info/alternates'), `${other}/.git/objects\n`);
      await alternates(project, `${project}/between\n`);
    },
  ],
  ['a quoted line', (project, other) => alternates(project, `"${other}/.git/objects"\n`)],
  ['what is behind a quoted line', (project, other) => alternates(project, `".",${other}/.git/objects\n`)],
  [
    'a line that ends within',
    async (project, other) => {
      await symlink(join(other, '.git/objects'), join(project, 'link'));
      await alternates(project, `${project}/link\0\n`);
    },
  ],
  [
    'a folder of objects that is a link',
    async (project, other) => {
      for (const name of await readdir(join(other, '.git/objects')))
        await replace(join(project, '.git/objects', name), join(other, '.git/objects', name));
    },
  ],
  [
    'objects that are links',
    async (project, other) => {
      for (const name of await readdir(join(other, '.git/objects'), { recursive: true }))
        if (/^..\/.{38}$/.test(name))
          await replace(join(project, '.git/objects', name), join(other, '.git/objects', name));
    },
  ],
  [
    'packs that are links',
    async (project, other) => {
      await git(other, 'repack', '-a', '-d', '--quiet');
      for (const name of await readdir(join(other, '.git/objects/pack')))
        await replace(join(project, '.git/objects/pack', name), join(other, '.git/objects/pack', name));
    },
  ],
  [
    'links of who lends',
    async (project, other) => {
      for (const name of await readdir(join(other, '.git/objects')))
        await replace(join(project, 'between', name), join(other, '.git/objects', name));
      await alternates(project, '../../between\n');
    },
  ],
];

const looks = [{ operation: 'log' }, { operation: 'show' }, { operation: 'branches' }, { operation: 'diff' }];

async function said(project: string): Promise<string> {
  const all = looks.map((params) => command(project, 'code/git', params, 'readonly').catch(String));
  return JSON.stringify(await Promise.all(all));
}

describe('a readonly run reads no object of another repository', () => {
  it.each(ways)('%s', async (_name, make) => {
    const [project, other] = [await repository(), await others()];
    await make(project, other);
    await pointsAt(project, other);
    // Git itself would.
    expect(await git(project, 'log', '--format=%s')).toContain('s3cret');
    expect(await said(project)).not.toContain('s3cret');
    await expect(command(project, 'code/git', { operation: 'log' }, 'readonly')).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
  });

  it.each(['refs/heads', 'refs/heads/deep/er', 'refs/tags', 'logs/refs'])('nor %s of it', async (name) => {
    const [project, other] = [await repository(), await others()];
    await git(other, 'branch', 'of-others');
    await replace(join(project, '.git', name), join(other, '.git/refs/heads'));
    expect(await said(project)).not.toContain('of-others');
  });

  it('nor waits for a pipe among them', async () => {
    const project = await repository();
    execFileSync('mkfifo', [join(project, '.git/refs/heads/pipe')]);
    await expect(command(project, 'code/git', { operation: 'branches' }, 'readonly')).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
  });
});

async function subject(project: string): Promise<unknown> {
  const found = await command(project, 'code/git', { operation: 'log', format: '%s' }, 'readonly');
  return (found as { output: string }).output;
}

describe('what a readonly run reads all the same', () => {
  it('a repository with packs, packed refs, and hooks that are links', async () => {
    const project = await repository();
    await git(project, 'branch', 'deep/er');
    await git(project, 'gc', '--quiet');
    await symlink('../../a.txt', join(project, '.git/hooks/pre-commit'));
    expect(await subject(project)).toBe('first\n');
  });

  it('one that borrows from another in the project, which borrows from a third there', async () => {
    const project = await repository();
    await git(project, 'clone', '--quiet', '--shared', '.', 'one');
    await rename(join(project, '.git/objects'), join(project, 'objects'));
    await put(join(project, '.git/objects/info/alternates'), '# within\n../../one/.git/objects\n');
    await put(join(project, 'one/.git/objects/info/alternates'), `${project}/objects\n`);
    expect(await subject(project)).toBe('first\n');
  });

  it('work trees and clones outside the project, and one with a submodule', async () => {
    const main = await repository();
    const tree = join(await temporaryFolder(), 'tree');
    await git(main, 'worktree', 'add', '-q', tree);
    expect(await subject(tree)).toBe('first\n');
    await git(main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main, 'sub');
    await git(main, 'commit', '--quiet', '--message=sub');
    expect(await subject(main)).toBe('sub\nfirst\n');
    expect(await readFile(join(main, 'sub/.git'), 'utf8')).toContain('modules/sub');
    await mkdir(join(main, 'within'));
    expect(await subject(join(main, 'within'))).toBe('sub\nfirst\n');
  });
});
