/** A disk that is full at one of fourteen operations: the changeset fails with what to do, and all is as before. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { applyFiles, type Target } from '../../../systems/cycle/changesets/apply.ts';
import type { Operation, PlannedFile } from '../../../systems/cycle/changesets/changeset.ts';
import { checkChangeset } from '../../../systems/cycle/changesets/check.ts';
import { readRecord } from '../../../systems/cycle/changesets/record.ts';
import { ShadowGit, placeOf } from '../../../world/git/trees/shadow-git.ts';
import { temporaryFolder } from '../harness/step-context.ts';
import { treeOf } from './fourteen.ts';

const KB = 1024;
const diskKb = 1024;
const fileKb = 32;
const kinds: Operation[] = Array.from({ length: 14 }, (_, at) =>
  at % 2 === 0
    ? { operation: 'CREATE', path: `made-${at}.txt`, content: 'x'.repeat(fileKb * KB) }
    : { operation: 'MODIFY', path: `there-${at}.txt`, content: 'y'.repeat(fileKb * KB) },
);

let disk: string | null = null;
beforeEach(() => {
  disk = null;
});
afterEach(() => {
  if (disk !== null) execFileSync('umount', [disk]);
});

/** Whether this process may mount one. */
function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskKb}k`, 'tmpfs', folder], { stdio: 'ignore' });
    disk = folder;
    return true;
  } catch {
    return false;
  }
}

async function planIn(root: string): Promise<{ target: Target; files: PlannedFile[] }> {
  const home = await temporaryFolder();
  const git = await ShadowGit.open(placeOf(home, root), root);
  const { files, problems } = await checkChangeset({ operations: kinds }, { root, access: { writes: true }, git });
  expect(problems).toEqual([]);
  return { target: { root, place: git.place, check: () => undefined }, files };
}

describe('is full', () => {
  test.for([0, 1, 7, 13])('after %i of fourteen operations', async (count, { skip }) => {
    const root = await temporaryFolder();
    if (!mounted(root)) skip('this user mounts no disk');
    for (const { operation, path } of kinds) if (operation === 'MODIFY') writeFileSync(join(root, path), 'before\n');
    const { target, files } = await planIn(root);
    const takenKb = 7 * 4;
    writeFileSync(join(root, 'filler'), Buffer.alloc((diskKb - takenKb - count * fileKb - 8) * KB));
    const before = treeOf(root);
    expect(() => applyFiles(target, files, 'run')).toThrow(
      expect.objectContaining({
        code: 'CHANGESET_NOT_WRITTEN',
        message: expect.stringContaining('make room on the disk') as string,
      }),
    );
    expect(treeOf(root)).toEqual(before);
    expect(readRecord(target.place)).toBeNull();
    rmSync(join(root, 'filler'));
    applyFiles(target, files, 'run');
    expect(treeOf(root)).toHaveLength(14);
  });
});
