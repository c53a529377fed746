/** Who may import whom: the table of ARCHITECTURE.md, with the reasons for what it does not say. */
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, files, isSource } from './tree.ts';

interface Law {
  folder: string;
  /** Folders and files of ours; `types:` allows type imports alone. */
  ours: string[];
  /** Packages; absent where any will do. A name stands for itself and what is below it. */
  packages?: string[];
}

/** The first that fits a file holds for it. */
const laws: Law[] = [
  {
    folder: 'language/',
    ours: ['language/'],
    packages: ['zod', 'ajv', 'jsep', '@jsep-plugin', 're2js', 'fastest-levenshtein', 'croner'],
  },
  {
    folder: 'workflows/interpreter/',
    ours: ['language/', 'workflows/interpreter/', 'workflows/changes.ts'],
    packages: [],
  },
  {
    folder: 'workflows/simulation/',
    ours: ['language/', 'workflows/interpreter/', 'workflows/simulation/', 'workflows/changes.ts'],
    packages: [],
  },
  {
    folder: 'workflows/',
    ours: ['language/', 'workflows/', 'activities/contract.ts'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  {
    folder: 'prisma/',
    ours: [
      'prisma/',
      'types:language/',
      'language/canonical.ts',
      'language/event-glob.ts',
      'language/event-numbers.ts',
      'language/json.ts',
      'language/limits.ts',
    ],
  },
  { folder: 'activities/', ours: ['activities/', 'language/', 'prisma/', 'workflows/interpreter/'] },
  {
    folder: 'client/',
    // A run may start a run: the client answers that port, and refuses with the same failures. A simulation confines paths as the commands do.
    ours: [
      'client/',
      'language/',
      'workflows/',
      'prisma/',
      'worker/config.ts',
      'worker/package-root.ts',
      'worker/services/',
      'types:activities/',
      'activities/failures.ts',
      'activities/commands/confine.ts',
    ],
  },
  {
    folder: 'dashboard/',
    ours: ['dashboard/', 'client/', 'language/', 'workflows/', 'prisma/', 'worker/config.ts', 'types:activities/'],
  },
];

/** What client code may not reach: modules that only live inside a workflow. */
const workflowOnly = [
  'workflows/temporal-host.ts',
  'workflows/control.ts',
  'workflows/sentinel.ts',
  'workflows/nested-run.ts',
  'workflows/replies.ts',
  'workflows/history/retrace-host.ts',
];

/** Single imports that the table does not allow, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  'client/cli/verbs/worker.ts imports worker/main.ts': 'the verb is the worker itself; loaded only when it is called',
  'client/replay/bundle.ts imports worker/bundle.ts': 'a history is walked again with the code that a worker runs',
};

interface Import {
  target: string;
  isType: boolean;
}

function importsOf(path: string): Import[] {
  const code = codeOf(path);
  const written = code.matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm);
  const called = code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g);
  const all = [
    ...Array.from(written, ([, type, target = '']) => ({ target, isType: type !== undefined })),
    ...Array.from(called, ([, target = '']) => ({ target, isType: false })),
  ];
  return all.map(({ target, isType }) => ({
    target: target.startsWith('.') ? posix.join(posix.dirname(path), target) : `package:${target}`,
    isType,
  }));
}

function isAllowed(law: Law, { target, isType }: Import): boolean {
  if (target.startsWith('package:')) {
    const name = target.slice('package:'.length);
    return law.packages === undefined || law.packages.some((entry) => name === entry || name.startsWith(`${entry}/`));
  }
  return law.ours.some((entry) =>
    entry.startsWith('types:') ? isType && target.startsWith(entry.slice('types:'.length)) : target.startsWith(entry),
  );
}

const sources = files.filter(isSource);
const lawOf = (path: string): Law | undefined => laws.find((law) => path.startsWith(law.folder));

describe('imports', () => {
  test.each(laws.slice(0, 7))('$folder keeps to its law', (law) => {
    const own = sources.filter((path) => lawOf(path) === law);
    expect(own).not.toEqual([]);
    const broken = own.flatMap((path) =>
      importsOf(path)
        .filter((found) => !isAllowed(law, found))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(broken.filter((line) => !Object.hasOwn(exceptions, line))).toEqual([]);
    expect(Object.keys(exceptions).filter((line) => line.startsWith(law.folder) && !broken.includes(line))).toEqual([]);
  });

  test('the client imports no module that only lives inside a workflow', () => {
    const reached = sources
      .filter((path) => path.startsWith('client/') || path.startsWith('dashboard/'))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ target, isType }) => !isType && workflowOnly.includes(target))
          .map(({ target }) => `${path} imports ${target}`),
      );
    expect(reached).toEqual([]);
  });

  test('the worker and the tests are imported by nobody but themselves', () => {
    const reached = sources
      .filter((path) => lawOf(path) !== undefined && !path.startsWith('client/') && !path.startsWith('dashboard/'))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ target }) => /^(?:worker|test|bench|scripts)\//.test(target))
          .map(({ target }) => `${path} imports ${target}`),
      );
    expect(reached).toEqual([]);
  });
});

/** What would make two runs of the same code differ, or tie it to a machine. */
const impure: readonly (readonly [string, RegExp])[] = [
  ['the clock', /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\b/],
  ['random numbers', /\bMath\.random\b|\brandomUUID\b|\bcrypto\b/],
  ['timers', /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/],
  ['the process', /\bprocess\s*\.|\bglobalThis\b|['"]node:/],
  ['code from text', /\beval\(|\bnew Function\b/],
];

const pureFolders = ['language/', 'workflows/interpreter/', 'workflows/simulation/'];

test.each(impure)('language/ and the interpreter do without %s', (_what, pattern) => {
  const pure = sources.filter((path) => pureFolders.some((folder) => path.startsWith(folder)));
  expect(pure.filter((path) => pattern.test(codeOf(path)))).toEqual([]);
});

test('no module that all workflows of a worker share keeps state of its own', () => {
  const shared = files.filter((path) => isSource(path) && /^(?:language|workflows)\//.test(path));
  expect(shared.length).toBeGreaterThan(100);
  expect(shared.filter((path) => /^(?:export )?(?:let|var) /m.test(codeOf(path)))).toEqual([]);
});

test('zod comes as a namespace: by its name alone, all of it would be in the bundle of the command line', () => {
  const importing = sources.filter((path) => /^import .*'zod';$/m.test(codeOf(path)));
  expect(importing.length).toBeGreaterThan(10);
  expect(importing.filter((path) => !/^import (?:type )?\* as z from 'zod';$/m.test(codeOf(path)))).toEqual([]);
});
