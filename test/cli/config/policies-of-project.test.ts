/** Whose policies hold for a run: those of its project, however the folder is spelled. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Policy } from '../../../language/policy/policy.ts';
import { policiesOfProject } from '../../../runs/policies.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-policies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const POLICY: Policy = [{ name: 'no-shell', match: { kinds: ['shell'] }, verdict: 'refuse', reason: 'never here' }];

test('they are those of the folder, also behind a link, and of no other', () => {
  const [own, other, link] = ['own', 'other', 'link'].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(own);
  mkdirSync(other);
  symlinkSync(own, link);
  const policiesOf = policiesOfProject(own, [POLICY]);
  expect(policiesOf(own)).toEqual([POLICY]);
  expect(policiesOf(link)).toEqual([POLICY]);
  expect(policiesOf(`${own}/`)).toEqual([POLICY]);
  expect(policiesOf(other)).toEqual([]);
  expect(policiesOfProject(undefined, [POLICY])(own)).toEqual([]);
  expect(policiesOfProject(null, [POLICY])(own)).toEqual([]);
});
