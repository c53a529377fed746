/**
 * Files of at most 400 lines as the formatter leaves them (the linter holds functions to 60), and names
 * that say something. A longer file that reads better whole goes on the list, with the reason.
 */
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { files, isSource, read } from './tree.ts';

const linesMax = 400;

/** Files that may be longer, each with its reason. */
const longer: Readonly<Record<string, string>> = {
  'test/language/graphs/run-graph.test.ts': 'one table of runs and the graphs they are drawn as',
  'test/language/properties/dialects.test.ts': 'one generator of definitions in all dialects, and what holds for each',
  'test/fuzz/hostile.ts': 'one catalogue of hostile texts',
  'test/cli/history/test-record.test.ts': 'one table of histories and the tests recorded from them',
};

test('no source is longer than a reader can hold', () => {
  const long = files
    .filter((path) => isSource(path) && !Object.hasOwn(longer, path))
    .map((path): [string, number] => [path, read(path).trimEnd().split('\n').length])
    .filter(([, lines]) => lines > linesMax);
  expect(long).toEqual([]);
});

test('every exception is still needed', () => {
  const needless = Object.keys(longer).filter(
    (path) => !files.includes(path) || read(path).split('\n').length <= linesMax,
  );
  expect(needless).toEqual([]);
});

const filesMax = 13;

/** Folders that may hold more files, each with its reason. */
const fuller: Readonly<Record<string, string>> = {
  'client/cli/verbs': 'one file a verb',
  'activities/commands': 'one file a family of commands',
  'activities/turns/prompts': 'one file a prompt',
  'language/expression': 'one evaluator: parser, operators, methods and their budget',
  'language/read/checks': 'one file a subject that is checked',
  'language/read/rewrites': 'one file a rewrite of the dialects',
  interpreter: 'one walk: in subfolders, more imports would cross folders than stay inside them',
};

/** Catalogues of data and pages, one file an entry. */
const catalogues = ['docs/', 'test/cases/', 'test/conformance/', 'test/histories/', 'prisma/migrations/', 'sentinels/'];

test('no folder has more files than a reader takes in', () => {
  const counts = new Map<string, number>();
  for (const path of files.filter(
    (file) => file.includes('/') && !catalogues.some((folder) => file.startsWith(folder)),
  ))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const full = [...counts].filter(([, count]) => count > filesMax).map(([folder]) => folder);
  expect(full.toSorted()).toEqual(Object.keys(fuller).toSorted());
});

const banned = new Set([
  'src',
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'misc',
  'types',
  'manager',
  'service',
  'base',
  'impl',
]);

test('no folder or file has a name that says nothing', () => {
  const vague = files.filter((path) => path.split(/[/.]/).some((part) => banned.has(part)));
  expect(vague).toEqual([]);
});

test('file names are in kebab-case', () => {
  const odd = files.filter(
    (path) => isSource(path) && !/^(?:[a-z0-9-]+\/)*[a-z0-9]+(?:[-.][a-z0-9]+)*\.(?:ts|mjs)$/.test(path),
  );
  expect(odd).toEqual([]);
});
