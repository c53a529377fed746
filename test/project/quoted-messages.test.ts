/** Messages that docs/troubleshooting.md quotes are those that the program prints, so that a search for one finds the page. */
import { expect, test } from 'vitest';
import { files, isSource, read } from './tree.ts';

const quoted = [
  'is not up, and looking starts nothing',
  'No Temporal server could be found',
  'There is no embedded Postgres for',
  'was made by Postgres',
  'The services did not start in time',
  'npm ci failed',
  'which is not of this installation',
  'End that process, and a worker takes the port within seconds',
  'the group "',
  'does too much work',
  'projects have one, as many as may be',
  'No model is configured',
  'no key is set',
  'Temporal no longer has the history of',
];

test.each(quoted)('%s', (message) => {
  expect(read('docs/troubleshooting.md')).toContain(message);
  const product = files.filter((path) => path === 'sentinel' || (isSource(path) && !path.startsWith('test/')));
  expect(product.filter((path) => read(path).includes(message))).not.toEqual([]);
});
