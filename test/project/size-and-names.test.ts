/**
 * Files of at most 400 lines as the formatter leaves them (the linter holds functions to 60), and names
 * that say something. A longer file that reads better whole goes on the list, with the reason.
 */
import { expect, test } from 'vitest';
import { files, isSource, read } from './tree.ts';

const linesMax = 400;

/** Files that may be longer, each with its reason. */
const longer: Readonly<Record<string, string>> = {
  'interpreter/simulation/scripted-host.ts': 'one class: the whole port of a host, on a clock of its own',
  'client/client.ts': 'one class: all that a program can do, each with its words',
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
