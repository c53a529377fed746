/** Files of cases: finding them, and running what they hold. */
import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { depthFault } from '../../language/json.ts';
import { exactJson, withoutMark } from '../../language/numbers/exact-json.ts';
import { filesAround } from '../../client/read-definition.ts';
import type { Commands, DefinitionFiles } from '../../world/definitions/definition-files.ts';
import { runTestCase, subjectOf, type CaseReport } from './run-case.ts';
import { readCases, type TestCase } from './test-file.ts';

export const SUFFIX = '.sentinel-test.json';

export interface FileReport {
  file: string;
  /** Sentences for what is wrong with the file itself; then it has no cases. */
  mistakes: string[];
  cases: (CaseReport & { test: TestCase })[];
  /** Files that what it says depends on. */
  reads: string[];
}

export interface Found {
  files: string[];
  /** Why paths that were given cannot be tested. */
  mistakes: string[];
}

/** Test files that paths name: themselves, the one beside a definition, or all below a folder. */
export function findTests(given: readonly string[]): Found {
  if (given.length === 0)
    return { files: unique([...testsIn('.', false), ...testsIn('sentinels', true)]), mistakes: [] };
  const mistakes: string[] = [];
  const files = given.flatMap((path): string[] => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) mistakes.push(`${path} does not exist; give a test file, a definition, or a folder`);
    else if (found.isDirectory()) return testsIn(path, true);
    else if (path.endsWith(SUFFIX)) return [path];
    else {
      const beside = path.replace(/\.json$/, SUFFIX);
      if (beside !== path && statSync(beside, { throwIfNoEntry: false })?.isFile() === true) return [beside];
      mistakes.push(`${path} has no tests; write them in ${basename(beside)} beside it`);
    }
    return [];
  });
  return { files: unique(files), mistakes };
}

const unique = (files: readonly string[]): string[] =>
  [...new Map(files.map((file) => [resolve(file), relative('.', file)])).values()].toSorted();

const SKIPPED = new Set(['node_modules', 'dist']);

function testsIn(folder: string, deep: boolean): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    // A folder that is not there holds no tests.
    return [];
  }
  return entries.flatMap((entry): string[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return deep && !SKIPPED.has(entry.name) && !entry.name.startsWith('.') ? testsIn(path, deep) : [];
    return entry.name.endsWith(SUFFIX) ? [path] : [];
  });
}

/** `commands`: those there are; absent, the built-in ones. */
export async function runTestFile(file: string, commands?: Commands): Promise<FileReport> {
  const nothing: FileReport = { file, mistakes: [], cases: [], reads: [file] };
  let value: unknown;
  try {
    value = exactJson(withoutMark(readFileSync(file, 'utf8')));
  } catch (error) {
    return {
      ...nothing,
      mistakes: [`cannot be read as JSON (${error instanceof Error ? error.message : String(error)})`],
    };
  }
  const fault = depthFault(value, 'what it holds');
  if (fault !== null) return { ...nothing, mistakes: [`${fault.code}: ${fault.message}`] };
  const read = readCases(value, basename(file, SUFFIX));
  if ('mistakes' in read) return { ...nothing, mistakes: read.mistakes };
  const around = filesAround(resolve(file), commands);
  return { ...nothing, ...(await runCases(read.cases, file, around)) };
}

async function runCases(
  tests: readonly TestCase[],
  file: string,
  around: DefinitionFiles,
): Promise<Pick<FileReport, 'cases' | 'reads'>> {
  const cases: FileReport['cases'] = [];
  const reads = new Set([file]);
  for (const test of tests) {
    const subject = subjectOf(test, resolve(file), around);
    if (subject.file !== null) reads.add(relative('.', subject.file));
    cases.push({ ...(await runTestCase(test, subject)), test });
  }
  return { cases: cases.map((report) => ({ ...report, unused: misspelt(report, cases) })), reads: [...reads] };
}

/** A reply that several cases share need not be asked for in each; it is told of in the first. */
function misspelt({ unused, test }: FileReport['cases'][number], all: FileReport['cases']): string[] {
  const isFirst = all[0]?.test === test;
  return unused.filter(
    (pattern) => !test.shared.has(pattern) || (isFirst && all.every((other) => other.unused.includes(pattern))),
  );
}
