/** The codes of failures, the code that uses them, and their pages say the same. */
import { expect, test } from 'vitest';
import { failuresIn } from '../../language/catalogue.ts';
import { FAILURE_CODES } from '../../language/failure.ts';
import { builtInSystems } from '../../systems/built-in.ts';
import { catalogue } from '../catalogue.ts';
import { codeOf, files, isSource, read } from './tree.ts';

const pagesIn = (folder: string): string[] =>
  files
    .flatMap((path) =>
      path.startsWith(folder) && path.endsWith('.md') ? [path.slice(folder.length, -'.md'.length)] : [],
    )
    .toSorted();

const pages = pagesIn('docs/failures/');

/** Those that commands state, with the folder of their system. */
const ofSystems = builtInSystems.flatMap(({ name, commands }) =>
  commands.flatMap(({ failures = {} }) => Object.entries(failures).map(([code, title]) => ({ name, code, title }))),
);
const codes: { readonly [code: string]: string } = { ...FAILURE_CODES, ...failuresIn(catalogue) };

test('every code of a failure has a page, and every page a code', () => {
  expect(pages).toEqual(Object.keys(codes).toSorted());
  expect(Object.keys(codes)).toHaveLength(Object.keys(FAILURE_CODES).length + ofSystems.length);
});

test.each(Object.entries(codes))(
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
    .filter((path) => isSource(path) && /^(?:activities|operations|runs\/own|workflows|world)\//.test(path))
    .flatMap((path) =>
      Array.from(codeOf(path).matchAll(/(?:\bcode: |new Failure\(\s*)'([A-Z][A-Z_]+)'/g), ([, code = '']) => ({
        path,
        code,
      })),
    );
  expect(raised.length).toBeGreaterThan(10);
  expect(raised.filter(({ code }) => !explained.has(code)).map(({ path, code }) => `${path}: ${code}`)).toEqual([]);
});

/** Literals that are codes. */
const codesIn = (path: string): string[] =>
  Array.from(codeOf(path).matchAll(/'([A-Z][A-Z_]{3,})'/g), ([, code = '']) => code);

test('a code that a command states stands in its system alone', () => {
  const stated = new Map(ofSystems.map(({ name, code }) => [code, `systems/${name}/`]));
  expect(stated.size).toBeGreaterThan(5);
  const strange = files
    .filter((path) => isSource(path) && !path.startsWith('test/'))
    .flatMap((path) =>
      codesIn(path)
        .filter((code) => !path.startsWith(stated.get(code) ?? path))
        .map((code) => `${path}: ${code}`),
    );
  expect(strange).toEqual([]);
});

test('a command fails with a code that it states, or that is none of a system', () => {
  const thrown = builtInSystems.flatMap(({ name, commands }) => {
    const own = Object.assign({}, ...commands.map(({ failures }) => failures)) as object;
    const raised = files
      .filter((path) => isSource(path) && path.startsWith(`systems/${name}/`))
      .flatMap((path) =>
        Array.from(codeOf(path).matchAll(/new Failure\(\s*'([A-Z][A-Z_]+)'/g), ([, code = '']) => ({ path, code })),
      );
    return raised.map((one) => ({
      ...one,
      isStated: Object.hasOwn(own, one.code) || Object.hasOwn(FAILURE_CODES, one.code),
    }));
  });
  expect(thrown.length).toBeGreaterThan(30);
  expect(thrown.filter(({ isStated }) => !isStated)).toEqual([]);
  const raised = new Set(thrown.map(({ code }) => code));
  expect(ofSystems.filter(({ code }) => !raised.has(code))).toEqual([]);
});

test('no message of an activity names its step: whoever asked for it puts the key before it', () => {
  const named = files.filter(
    (path) =>
      isSource(path) &&
      /^(?:activities|operations|systems|runs|world)\//.test(path) &&
      /\$\{(?:\w+\.)*key\}: /.test(codeOf(path).replaceAll('`${effect.key}: ${error.message}`', '')),
  );
  expect(named).toEqual([]);
});
