/** What can be granted to a persona that is a model stands on its page, all of it and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GRANTS } from '../../language/rights/answers.ts';

test('docs/personas.md lists what can be granted', () => {
  const page = readFileSync(new URL('../../docs/personas.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Granting answers');
  const rows = section.split('\n## ')[0]?.matchAll(/^\| `([^`]+)` \|/gm) ?? [];
  expect(Array.from(rows, ([, name]) => name).filter((name) => name !== 'may')).toEqual([...GRANTS]);
});
