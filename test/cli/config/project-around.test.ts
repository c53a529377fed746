/** The project that the file of a definition belongs to, by the folders that a project has for them. */
import { expect, test } from 'vitest';
import { projectAround } from '../../../world/definitions/definition-files.ts';

test.each([
  ['/p/sentinels/x.json', '/p'],
  ['/p/.continuum/sentinels/x.json', '/p'],
  ['/p/.continuum/sentinels/parts/x.json', '/p'],
  ['/p/system/recipes/x.json', '/p'],
  ['/p/sentinels/packages/a/sentinels/x.json', '/p/sentinels/packages/a'],
  ['/sentinels/.continuum/sentinels/x.json', '/sentinels'],
  ['/p/elsewhere/x.json', null],
])('%s is of %s', (file, project) => {
  expect(projectAround(file)).toBe(project);
});

test('what lies below the project at hand is of that one', () => {
  expect(projectAround('/p/.continuum/sentinels/x.json', '/p/.continuum')).toBe('/p/.continuum');
});
