/** Definitions that travel with a project lie in several folders, and an export among them is none. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { filesOfProject } from '../../../client/read-definition.ts';
import { protectionOf } from '../../../world/confinement/protected-places.ts';
import { catalogue } from '../../catalogue.ts';

const project = mkdtempSync(join(tmpdir(), 'sentinel-travelling-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(path: string, content: object): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

const named = (name: string): object => ({ name, loop: { type: 'once' }, steps: [{ type: 'emit', event: name }] });

test.each([
  'sentinels/a.json',
  '.continuum/sentinels/b.json',
  '.continuum/sentinels/team/c.json',
  'system/recipes/d.json',
])('%s is found by its name, and no model writes it', (path) => {
  write(path, named(`in-${path}`));
  expect(filesOfProject(project, { catalogue }).known(`in-${path}`)).toMatchObject({ name: `in-${path}` });
  expect(protectionOf(project, join(project, path))).toBe('run-later');
});

test('what lies beside these folders is protected as any file', () => {
  for (const path of ['continuum/x.json', 'system/recipes.json', 'systems/recipes/x.json', 'recipes/x.json'])
    expect(protectionOf(project, join(project, path))).toBeNull();
});

test('a file that is an export hides no definition of its name', () => {
  write('sentinels/shared.json', { format: 'sentinel-export', version: 1 });
  write('sentinels/other.json', named('shared'));
  expect(filesOfProject(project, { catalogue }).find('shared')).toBe(join(project, 'sentinels', 'other.json'));
});
