/** The codes of failures, the code that uses them, and their pages say the same. */
import { expect, test } from 'vitest';
import { FAILURE_CODES } from '../../language/failure.ts';
import { codeOf, files, isSource, read } from './tree.ts';

const pagesIn = (folder: string): string[] =>
  files
    .flatMap((path) =>
      path.startsWith(folder) && path.endsWith('.md') ? [path.slice(folder.length, -'.md'.length)] : [],
    )
    .toSorted();

const pages = pagesIn('docs/failures/');

test('every code of a failure has a page, and every page a code', () => {
  expect(pages).toEqual(Object.keys(FAILURE_CODES).toSorted());
});

test.each(Object.entries(FAILURE_CODES))(
  'the page of %s begins with its meaning, and says what happened and what to do',
  (code, meaning) => {
    const page = read(`docs/failures/${code}.md`);
    expect(page.startsWith(`# ${code}\n\n${meaning}.\n`)).toBe(true);
    expect(page).toMatch(/## What happened\n\n\S[\s\S]*\n\n## What to do\n\n\S/);
  },
);

/** A failure that a definition's own text causes is explained where the same problem is. */
const explained = new Set([...pages, ...pagesIn('docs/problems/')]);

test('no failure is raised under a code that nothing explains', () => {
  const raised = files
    .filter((path) => isSource(path) && /^(?:activities|workflows|world)\//.test(path))
    .flatMap((path) =>
      Array.from(codeOf(path).matchAll(/(?:\bcode: |new Failure\(\s*)'([A-Z][A-Z_]+)'/g), ([, code = '']) => ({
        path,
        code,
      })),
    );
  expect(raised.length).toBeGreaterThan(10);
  expect(raised.filter(({ code }) => !explained.has(code)).map(({ path, code }) => `${path}: ${code}`)).toEqual([]);
});

test('no message of an activity names its step: whoever asked for it puts the key before it', () => {
  const named = files.filter(
    (path) =>
      isSource(path) &&
      /^(?:activities|world)\//.test(path) &&
      /\$\{(?:\w+\.)*key\}: /.test(codeOf(path).replaceAll('`${effect.key}: ${error.message}`', '')),
  );
  expect(named).toEqual([]);
});
