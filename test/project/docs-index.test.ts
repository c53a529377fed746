/** Every page of docs/ can be found from docs/index.md: a page at the top by a link in the index itself. Its tables are tables. */
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { files, read } from './tree.ts';

const pages = files.filter((path) => path.startsWith('docs/') && path.endsWith('.md'));
const index = 'docs/index.md';

/** Pages that a page links to. A link to a folder leads to all pages in it, as a folder does on a web site of code. */
function linkedFrom(page: string): string[] {
  const links = Array.from(read(page).matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ([, link = '']) =>
    posix.join(posix.dirname(page), link).replace(/\/$/, ''),
  );
  return pages.filter((path) => links.includes(path) || links.includes(posix.dirname(path)));
}

function reachableFrom(start: string): Set<string> {
  const found = new Set([start]);
  for (const page of found) for (const linked of linkedFrom(page)) found.add(linked);
  return found;
}

test('the index links to every page at the top of docs/', () => {
  const linked = linkedFrom(index);
  const atTop = pages.filter((path) => posix.dirname(path) === 'docs' && path !== index);
  expect(atTop.length).toBeGreaterThan(20);
  expect(atTop.filter((path) => !linked.includes(path))).toEqual([]);
});

test('links lead from the index to every other page', () => {
  const reachable = reachableFrom(index);
  expect(pages.filter((path) => !reachable.has(path))).toEqual([]);
});

/** Lines that look like a row of a table where no table is: they are shown as text. */
function rowsOutsideTables(page: string): string[] {
  const text = read(page).replaceAll(/^ *```[^]*?^ *```$/gm, '');
  const tables = Array.from(text.matchAll(/(?:^\|.*\n?)+/gm), ([table]) => table.trimEnd().split('\n'));
  return tables.filter(([, below = '']) => !/^\|(?: *:?-+:? *\|)+$/.test(below)).map(([row = '']) => row);
}

test('each row of a table stands in a table', () => {
  expect(pages.flatMap((page) => rowsOutsideTables(page).map((row) => `${page}: ${row}`))).toEqual([]);
});

test('the README links to the index', () => {
  expect(read('README.md')).toContain('](docs/index.md)');
});
