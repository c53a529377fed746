/**
 * Files that run side by side share a Temporal server, where a handle names one workflow: two of them that
 * start a run of the same handle take each other's run, when they happen to run at the same time.
 */
import { expect, test } from 'vitest';
import { files, read } from './tree.ts';

test('no two files of tests start runs of the same handle', () => {
  const owners = new Map<string, Set<string>>();
  for (const path of files.filter((file) => /^test\/(?:server|services)\/.*\.test\.ts$/.test(file)))
    for (const [, handle = ''] of read(path).matchAll(/handle(?:: |', )'([^'/]+)'/g))
      owners.set(handle, (owners.get(handle) ?? new Set()).add(path));
  expect(owners.size).toBeGreaterThan(10);
  expect([...owners].filter(([, paths]) => paths.size > 1).map(([handle, paths]) => [handle, ...paths])).toEqual([]);
});
