/** Who asks whether sources have changed since the build looks at all that the build compiles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownRoot } from '../../services/home/package-root.ts';

const read = (path: string): string => readFileSync(join(ownRoot, path), 'utf8');
const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };

test('the launcher builds anew where any of them has changed', () => {
  const looked = /find ((?:[^\n]*\\\n)+)/.exec(read('sentinel'))?.[1]?.split(/[\s\\]+/) ?? [];
  expect(include.filter((folder) => !looked.includes(folder))).toEqual([]);
});

test('so does the set-up of tests', () => {
  const [, listed = ''] = /const sources = \[([^\]]*)\]/.exec(read('test/server/harness/global-setup.ts')) ?? [];
  expect(include.filter((folder) => !listed.includes(`'${folder}'`) && !listed.includes(`'${folder}/`))).toEqual([]);
});
