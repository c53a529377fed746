import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveInside } from '../../../world/confinement/confine.ts';
import { temporaryFolder } from '../harness/step-context.ts';

/** `base/project` is the project; `base/secret` lies beside it, `base/project-b` has its name's start. */
async function makeProject(): Promise<{ base: string; project: string }> {
  const base = await temporaryFolder();
  const project = join(base, 'project');
  await mkdir(join(project, 'src'), { recursive: true });
  await mkdir(join(base, 'project-b'));
  await writeFile(join(base, 'secret'), 'secret');
  await writeFile(join(project, 'src/a.ts'), 'a');
  await symlink('src', join(project, 'inner'));
  await symlink('..', join(project, 'up'));
  await symlink(join(base, 'secret'), join(project, 'secret-link'));
  await symlink(join(base, 'not-there'), join(project, 'nowhere'));
  await symlink('circle', join(project, 'circle'));
  await symlink(project, join(base, 'alias'));
  return { base, project };
}

describe('paths of a definition', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src/../src/a.ts', 'src/a.ts'],
    ['inner/a.ts', 'src/a.ts'],
    ['inner/new/file', 'src/new/file'],
    ['new/deep/file', 'new/deep/file'],
    ['..name', '..name'],
    ['.', '.'],
  ])('%s is inside', async (path, expected) => {
    const { project } = await makeProject();
    expect(resolveInside(project, path)).toBe(join(project, expected));
    expect(resolveInside(project, join(project, path))).toBe(join(project, expected));
  });

  it.each([
    '..',
    '../secret',
    'src/../../secret',
    '/etc/passwd',
    '../project-b/x',
    'up/secret',
    'secret-link',
    'up/new',
    'nowhere',
    'nowhere/file',
    'a\0b',
    `${'a/'.repeat(3000)}b`,
  ])('%j is outside', async (path) => {
    const { project } = await makeProject();
    expect(() => resolveInside(project, path)).toThrow(expect.objectContaining({ code: 'PATH_OUTSIDE_PROJECT' }));
  });

  it('refuses a circle of links, and a project that is not there', async () => {
    const { project } = await makeProject();
    expect(() => resolveInside(project, 'circle')).toThrow(expect.objectContaining({ code: 'PATH_NOT_USABLE' }));
    expect(() => resolveInside(join(project, 'none'), 'a')).toThrow(
      expect.objectContaining({ code: 'PROJECT_MISSING' }),
    );
  });

  it('accepts a root that is itself a link, spelled either way', async () => {
    const { project } = await makeProject();
    const alias = join(dirname(project), 'alias');
    expect(resolveInside(alias, 'src/a.ts')).toBe(join(project, 'src/a.ts'));
    expect(resolveInside(alias, join(alias, 'src/a.ts'))).toBe(join(project, 'src/a.ts'));
    expect(resolveInside(alias, join(project, 'src/a.ts'))).toBe(join(project, 'src/a.ts'));
  });
});
