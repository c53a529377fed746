/** The examples of the pages for beginners behave as the pages say, and docs/language.md sends its readers there first. */
import { afterAll, expect, test, vi } from 'vitest';
import { read } from '../../project/tree.ts';
import { examplesOf, testExamples } from './page-examples.ts';

afterAll(() => vi.useRealTimers());

const pages = [
  ['docs/language/start.md', 2],
  ['docs/gotchas.md', 12],
] as const;

for (const [page, atLeast] of pages) testExamples(page, examplesOf(page), atLeast);

test('the first link of docs/language.md leads to the page for beginners', () => {
  expect(/\]\(([^)]+)\)/.exec(read('docs/language.md'))?.[1]).toBe('language/start.md');
});

test('every statement in docs/gotchas.md has an example', () => {
  const sections = read('docs/gotchas.md').split(/^## /m).slice(1);
  const without = sections
    .filter((section) => !section.includes('```json expect'))
    .map((section) => section.split('\n')[0]);
  expect(sections.length).toBeGreaterThan(10);
  expect(without).toEqual([]);
});
