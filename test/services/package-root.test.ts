/** Where the services' data lies when nobody says where. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultHome } from '../../services/home/package-root.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sentinel-home-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Made with its parents, and with a package.json where `isProject`. */
function place(path: string, isProject: boolean): string {
  const at = join(folder, path);
  mkdirSync(at, { recursive: true });
  if (isProject) writeFileSync(join(at, 'package.json'), '{}');
  return at;
}

test('in a checkout', () => {
  const checkout = place('checkout', true);
  expect(defaultHome(checkout, '/users/ada')).toBe(join(checkout, '.sentinel'));
});

test.each([
  ['that has it installed', 'node_modules/sentinel-engine'],
  ['whose packages are links into a store', 'node_modules/.pnpm/sentinel-engine@1.0.0/node_modules/sentinel-engine'],
])('in the project %s', (_what, below) => {
  const project = place('app', true);
  expect(defaultHome(place(`app/${below}`, true), '/users/ada')).toBe(join(project, '.sentinel'));
});

test.each([
  ['globally', 'lib', false],
  ['by npx alone', '.npm/_npx/0a1b', true],
])("in the user's home, installed %s", (_how, around, isProject) => {
  place(around, isProject);
  expect(defaultHome(place(`${around}/node_modules/sentinel-engine`, true), '/users/ada')).toBe('/users/ada/.sentinel');
});
