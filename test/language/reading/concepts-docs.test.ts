/** The example of docs/concepts.md is a definition without problems, and its comments name the steps' real places. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseDefinitionText } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';

const page = readFileSync(new URL('../../../docs/concepts.md', import.meta.url), 'utf8');
const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];

test('the example has no problems, and each of its steps is at the place that its comment names', () => {
  const found = parseDefinitionText(example, { catalogue }, 'yaml');
  expect(found.problems).toEqual([]);
  if (!found.ok) throw new Error('the example was refused');
  const typeAt = (path: string): unknown =>
    `${path}.type`
      .split('.')
      .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], found.definition);
  const noted = Array.from(
    example.matchAll(/type: (\w+).*# (steps\.[\w.]+)$/gm),
    ([, type = '', path = '']): [string, unknown] => [path, type],
  );
  expect(noted.length).toBe((example.match(/type: (?!until)/g) ?? []).length);
  expect(noted.map(([path]) => [path, typeAt(path)])).toEqual(noted);
});
