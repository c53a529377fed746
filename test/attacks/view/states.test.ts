/** States of a project, taken while a process in it moves folders: nothing from outside gets into one. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { ProjectTrees } from '../../../operations/checkpoints/project-trees.ts';
import { ShadowGit } from '../../../world/git/trees/shadow-git.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';

const FILES = 300;

/** Of every object, also of those that no state leads to. */
async function kept(git: ShadowGit): Promise<string> {
  return git.text(['cat-file', '--batch-all-objects', '--batch', '--unordered']);
}

async function filled(folder: string, content: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let index = 0; index < FILES; index += 1) await writeFile(join(folder, `f${index}`), `${content} ${index}`);
}

async function folders(): Promise<{ outside: string; project: string; git: ShadowGit }> {
  const [outside, project, place] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  await filled(outside, 's3cret');
  await filled(join(project, 'a'), 'own');
  return { outside, project, git: await ShadowGit.open(place, project) };
}

it.runIf(process.platform === 'linux')(
  'while a folder is swapped with a link in a loop, none of forty holds a file of outside',
  { timeout: 300_000 },
  async () => {
    const { outside, project, git } = await folders();
    const wait = 'select(undef, undef, undef, 0.002);';
    const swap = `rename "a", "gone"; symlink "${outside}", "a"; ${wait} unlink "a"; rename "gone", "a"; ${wait}`;
    const end = new AbortController();
    const mover = execa('perl', ['-e', `while (1) { ${swap} }`], {
      cwd: project,
      stdio: 'ignore',
      cancelSignal: end.signal,
      reject: false,
    });
    const trees = new ProjectTrees(git);
    let taken = 0;
    try {
      for (let look = 0; look < 40; look += 1) {
        // By either name: one of them may be the link by now, and then what is outside is written.
        for (let index = 0; index < FILES; index += 1)
          await writeFile(join(project, look % 2 === 0 ? 'a' : 'gone', `f${index}`), `own ${look} ${index}`).catch(
            () => undefined,
          );
        await trees.take().then(
          () => (taken += 1),
          () => undefined,
        );
      }
    } finally {
      end.abort();
      await mover;
    }
    expect(taken).toBeGreaterThan(0);
    const all = await kept(git);
    expect(all).toContain('own ');
    expect(all).not.toContain('s3cret');
  },
);

it('of a folder at rest each file is in, a link as what it says, and neither is read again', async () => {
  const { outside, project, git } = await folders();
  await symlink(outside, join(project, 'link'));
  await symlink(join(outside, 'f1'), join(project, 'a', 'link'));
  // Git refuses such names: they end no look.
  await mkdir(join(project, 'a', '.Git'));
  await writeFile(join(project, 'a', '.Git', 'x'), 'refused');
  await symlink('f1', join(project, 'a', '.gitmodules'));
  const trees = new ProjectTrees(git);
  const { tree } = await trees.take();
  const listed = (await git.text(['ls-tree', '-r', '-z', '--name-only', tree])).split('\0').filter(Boolean);
  expect(listed.toSorted()).toEqual(
    ['link', 'a/link', ...Array.from({ length: FILES }, (_, index) => `a/f${index}`)].toSorted(),
  );
  expect(await git.text(['cat-file', 'blob', `${tree}:a/f7`])).toBe('own 7');
  expect(await git.text(['cat-file', 'blob', `${tree}:a/link`])).toBe(join(outside, 'f1'));
  const all = await kept(git);
  expect(all).not.toContain('s3cret');
  expect(all).not.toContain('refused');
  expect(await git.text(['diff-files', '--name-only'])).toBe('');
  await writeFile(join(project, 'a', 'f7'), 'another');
  expect(await git.text(['diff-files', '--name-only'])).toBe('a/f7\n');
  expect(await git.text(['cat-file', 'blob', `${(await trees.take()).tree}:a/f7`])).toBe('another');
});
