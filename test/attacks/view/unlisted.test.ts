/** Folders of which nobody can say what is in them: their owner may make them so, and reach by name what they hold. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { findProtectedPlaces } from '../../../world/confinement/protected-places.ts';
import { ProjectView } from '../../../world/confinement/project-view.ts';
import { temporaryFolder } from '../../activities/harness/step-context.ts';

const NOBODY = 65_534;

async function project(): Promise<string> {
  const root = await temporaryFolder();
  mkdirSync(join(root, 'conf', '.git'), { recursive: true });
  writeFileSync(join(root, 'conf', '.env'), 'KEY=s3cret');
  for (const path of ['.', 'conf', 'conf/.git', 'conf/.env']) chownSync(join(root, path), NOBODY, NOBODY);
  return root;
}

describe.runIf(process.getuid?.() === 0)('to a worker that is not root', () => {
  afterEach(() => process.seteuid?.(0));

  test('a folder that it cannot list is hidden whole, and one that it can is looked into', async () => {
    const root = await project();
    process.seteuid?.(NOBODY);
    expect(await findProtectedPlaces(root)).toMatchObject({ homes: [], repositories: [join(root, 'conf', '.git')] });
    chmodSync(join(root, 'conf'), 0o311);
    expect(await findProtectedPlaces(root)).toMatchObject({ homes: [join(root, 'conf')], repositories: [] });
  });

  test('a project that it cannot list is refused', async () => {
    const root = await project();
    process.seteuid?.(NOBODY);
    chmodSync(root, 0o311);
    await expect(findProtectedPlaces(root)).rejects.toMatchObject({ code: 'SANDBOX_NOT_AVAILABLE' });
  });
});

test('a folder whose name is not UTF-8 is refused; a file, and a folder with other letters, are not', async () => {
  const root = await temporaryFolder();
  mkdirSync(join(root, 'café'));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), 'text');
  await expect(findProtectedPlaces(root)).resolves.toMatchObject({ homes: [] });
  mkdirSync(Buffer.concat([Buffer.from(`${root}/lat`), Buffer.from([0xe9])]));
  await expect(findProtectedPlaces(root)).rejects.toMatchObject({
    code: 'SANDBOX_NOT_AVAILABLE',
    message: expect.stringContaining('is not UTF-8') as string,
  });
});

test('more places than a sandbox can cover are refused, and it is said where they are', async () => {
  const root = await temporaryFolder();
  const many = (count: number) =>
    Array.from({ length: count }, (_each, at) => ({
      place: join(root, 'made', `${at}.pem`),
      as: 'empty-file' as const,
    }));
  const look = (count: number) => () =>
    Promise.resolve({
      shown: [...many(count), { place: join(root, '.env'), as: 'empty-file' as const }],
      outside: [],
      missing: [],
    });
  await expect(ProjectView.make(root, look(2_001))).rejects.toMatchObject({
    code: 'SANDBOX_NOT_AVAILABLE',
    message: expect.stringContaining('most of them in made (2001), . (1); remove') as string,
  });
  mkdirSync(join(root, 'made'));
  (await ProjectView.make(root, look(1_900))).close();
});
