/** The codes of failures, the code that uses them, and their pages say the same. */
import { expect, test } from 'vitest';
import { failuresIn } from '../../language/catalogue.ts';
import { FAILURE_CODES } from '../../language/failure.ts';
import { isRetryable, titleOf, type StatedFailures } from '../../language/stated-failures.ts';
import { builtInSystems } from '../../systems/built-in.ts';
import { catalogue } from '../catalogue.ts';
import { codeOf, files, isSource, read } from './tree.ts';

/** The sections of a page, by the code with which each begins. */
const sectionsOf = (path: string): Map<string, string> =>
  new Map(
    read(path)
      .split(/^(?=## [A-Z_]+$)/m)
      .flatMap((section) => {
        const [, code] = /^## ([A-Z_]+)\n/.exec(section) ?? [];
        return code === undefined ? [] : [[code, section] as const];
      }),
  );

const OF_ENGINE = 'docs/failures.md';
const ofSystem = (name: string): string => `systems/${name}/failures.md`;

const told = (failures: StatedFailures): { code: string; title: string; isRetried: boolean }[] =>
  Object.entries(failures).map(([code, stated]) => ({
    code,
    title: titleOf(stated),
    isRetried: isRetryable(stated),
  }));

/** Those that commands state, with the folder of their system, in which several may state the same. */
const ofSystems = builtInSystems.flatMap(({ name, commands }) =>
  told(Object.assign({}, ...commands.map(({ failures }) => failures)) as StatedFailures).map((one) => ({
    name,
    ...one,
  })),
);
const codes = { ...FAILURE_CODES, ...failuresIn(catalogue) };
const explained = [
  ...told(FAILURE_CODES).map((one) => ({ path: OF_ENGINE, ...one, never: ' It is not retried.' })),
  ...ofSystems.map(({ name, ...one }) => ({
    path: ofSystem(name),
    ...one,
    never: " It is not retried unless `on` of the step's `retry` names it.",
  })),
];

test('every code of a failure is explained once, by whom it belongs to, and nothing else is', () => {
  const pages = files.filter((path) => path === OF_ENGINE || /^systems\/[^/]+\/failures\.md$/.test(path));
  const found = pages.flatMap((path) => [...sectionsOf(path).keys()].map((code) => `${path} ${code}`));
  expect(found.toSorted()).toEqual(explained.map(({ path, code }) => `${path} ${code}`).toSorted());
  expect(Object.keys(codes)).toHaveLength(explained.length);
});

test.each(explained)(
  'what is said of $code begins with its meaning and whether it is retried, and says what happened and what to do',
  ({ path, code, title, isRetried, never }) => {
    const section = sectionsOf(path).get(code) ?? '';
    expect(section.startsWith(`## ${code}\n\n${title}.${isRetried ? '' : never}\n`)).toBe(true);
    expect(section).toMatch(/### What happened\n\n\S[\s\S]*\n\n### What to do\n\n\S/);
  },
);

/** A failure that a definition's own text causes is explained where the same problem is. */
const known = new Set([...Object.keys(codes), ...sectionsOf('docs/problems.md').keys()]);

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
  expect(raised.filter(({ code }) => !known.has(code)).map(({ path, code }) => `${path}: ${code}`)).toEqual([]);
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
