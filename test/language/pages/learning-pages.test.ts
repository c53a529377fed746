/** The examples of the pages for beginners behave as the pages say, and docs/language.md sends its readers there first. */
import { expect, test } from 'vitest';
import { readInputs } from '../../../cli/request/run-request.ts';
import { read } from '../../project/tree.ts';
import { examplesOf, testExamples } from './page-examples.ts';

const pages = [
  ['docs/language/start.md', 2],
  ['docs/gotchas.md', 12],
] as const;

for (const [page, atLeast] of pages) testExamples(page, examplesOf(page), atLeast);

test('the first link of docs/language.md leads to the page for beginners', () => {
  expect(/\]\(([^)]+)\)/.exec(read('docs/language.md'))?.[1]).toBe('language/start.md');
});

test('an input on the command line is what the page says: JSON, and else text', () => {
  expect(read('docs/gotchas.md')).toContain('--input \'version="2.0"\'');
  expect(readInputs(undefined, ['a=2.0', 'b="2.0"', 'c=web'])).toEqual({ a: 2, b: '2.0', c: 'web' });
});

test('every statement in docs/gotchas.md has an example', () => {
  const sections = read('docs/gotchas.md').split(/^## /m).slice(1);
  const without = sections
    .filter((section) => !section.includes('```json expect'))
    .map((section) => section.split('\n')[0]);
  expect(sections.length).toBeGreaterThan(10);
  expect(without).toEqual([]);
});
