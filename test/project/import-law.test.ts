/** Who may import whom: the table of ARCHITECTURE.md, with the reasons for what it does not say. */
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, files, isSource } from './tree.ts';

interface Law {
  folder: string;
  /** Folders and files of ours; `types:` allows type imports alone. */
  ours: string[];
  /** What of `ours` is not meant. */
  not?: string[];
  /** Packages; absent where any will do. A name stands for itself and what is below it. */
  packages?: string[];
}

/** The first that fits a file holds for it. */
const laws: Law[] = [
  {
    folder: 'language/',
    ours: ['language/'],
    packages: ['zod', 'ajv', 'jsep', '@jsep-plugin', 're2js', 'fastest-levenshtein', 'croner', 'yaml'],
  },
  { folder: 'interpreter/simulation/', ours: ['language/', 'interpreter/'], packages: [] },
  {
    folder: 'interpreter/',
    ours: ['language/', 'interpreter/'],
    not: ['interpreter/simulation/'],
    packages: [],
  },
  {
    folder: 'workflows/',
    ours: ['language/', 'interpreter/', 'workflows/'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  {
    folder: 'prisma/',
    ours: [
      'prisma/',
      'types:language/',
      'language/canonical.ts',
      'language/defined.ts',
      'language/events/event-glob.ts',
      'language/events/event-numbers.ts',
      'language/events/wrapped.ts',
      'language/held-back.ts',
      'language/models/model-streams.ts',
      'language/json.ts',
      'language/limits.ts',
      'language/params/record-operators.ts',
      'world/crash-points/crash-point.ts',
    ],
  },
  // No step reaches a home or a service, and which folder and which port is one the services know that made it. What a provider answered is a
  // row, and so are the requests of which a cassette is made.
  {
    folder: 'world/',
    ours: [
      'world/',
      'language/',
      'types:prisma/store/contract/',
      'prisma/store/values/content-hash.ts',
      'services/config/ports.ts',
      'services/home/home-records.ts',
    ],
  },
  // A turn of a model and an edit of a run are the interpreter's, and so are their names here. What travels is signed with the key of the home.
  {
    folder: 'operations/',
    ours: [
      'operations/',
      'world/',
      'language/',
      'prisma/',
      'types:interpreter/',
      'services/home/home-records.ts',
      'services/home/signing.ts',
    ],
  },
  {
    folder: 'systems/',
    ours: ['systems/', 'operations/', 'world/', 'language/', 'prisma/', 'interpreter/'],
  },
  {
    folder: 'activities/',
    ours: ['activities/', 'operations/', 'world/', 'language/', 'prisma/', 'interpreter/'],
  },
  // `doctor` looks for the sandbox and the proxy with the eyes of the step that needs them; `down` ends what outlives a worker; files of a home
  // are written whole as a step's are.
  {
    folder: 'services/',
    ours: [
      'services/',
      'prisma/',
      'world/confinement/sandbox.ts',
      'world/files/whole-file.ts',
      'world/http/proxy.ts',
      'world/processes/kept/',
      'world/processes/step-init.ts',
    ],
  },
  {
    folder: 'runs/',
    // Commands of a project are performed beside those of ours; and a run may start a run: runs/ answers that port.
    ours: [
      'runs/',
      'language/',
      'interpreter/',
      'workflows/messages/',
      'prisma/',
      'services/',
      'operations/',
      'world/',
    ],
  },
  // A definition is read with the commands there are; an undo is done where the project lies; a run that is ended by
  // force leaves processes that nobody else may be there to end; a cassette is made of what was asked; `mcp` asks a
  // server as a command does; what is said holds no key of the process. What a person
  // calls by name is performed by the systems.
  {
    folder: 'client/',
    ours: [
      'client/',
      'language/',
      'interpreter/',
      'workflows/messages/',
      'workflows/history/',
      'prisma/',
      'services/',
      'runs/',
      'types:activities/',
      'operations/',
      'systems/built-in.ts',
      'types:world/',
      'world/failures/failures.ts',
      'world/mcp/',
      'world/models/cassette/',
      'world/own-keys/own-keys.ts',
      'world/processes/run-orphans.ts',
      'world/processes/step-mark.ts',
      'operations/checkpoints/',
      'world/definitions/',
      'systems/catalogue.ts',
    ],
  },
  // A simulation confines paths as the commands do, and asks each what it would do.
  {
    folder: 'authoring/',
    ours: [
      'authoring/',
      'client/',
      'language/',
      'interpreter/',
      'prisma/',
      'services/',
      'runs/',
      'types:operations/',
      'types:world/',
      'world/failures/failures.ts',
      'world/confinement/confine.ts',
      'world/definitions/',
      'systems/built-in.ts',
      'systems/catalogue.ts',
    ],
  },
  // The verb is the worker itself, which is loaded when it is called.
  { folder: 'cli/verbs/worker.ts', ours: ['cli/', 'language/', 'services/', 'worker/main.ts'] },
  // `models` asks a model as a turn does. What the store has comes through the client.
  {
    folder: 'cli/',
    ours: [
      'cli/',
      'authoring/',
      'client/',
      'language/',
      'interpreter/',
      'workflows/messages/',
      'types:workflows/history/',
      'services/',
      'runs/',
      'types:operations/',
      'types:world/',
      'world/definitions/',
      'world/models/',
      'world/own-keys/own-keys.ts',
      'world/processes/step-mark.ts',
      'systems/catalogue.ts',
    ],
  },
  {
    folder: 'worker/',
    ours: [
      'worker/',
      'language/',
      'interpreter/',
      'workflows/',
      'prisma/',
      'world/',
      'operations/',
      'systems/built-in.ts',
      'systems/catalogue.ts',
      'activities/',
      'services/',
      'runs/',
    ],
  },
];

/** What client code may not reach: modules that only live inside a workflow. */
const workflowOnly = ['workflows/history/retrace-host.ts'];

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
  if (law.not?.some((entry) => target.startsWith(entry)) === true) return false;
  return law.ours.some((entry) =>
    entry.startsWith('types:') ? isType && target.startsWith(entry.slice('types:'.length)) : target.startsWith(entry),
  );
}

const sources = files.filter(isSource);
const lawOf = (path: string): Law | undefined => laws.find((law) => path.startsWith(law.folder));

const systemOf = (path: string): string | undefined => /^systems\/([^/]+)\//.exec(path)?.[1];

describe('imports', () => {
  test.each(laws)('$folder keeps to its law', (law) => {
    const own = sources.filter((path) => lawOf(path) === law);
    expect(own).not.toEqual([]);
    const broken = own.flatMap((path) =>
      importsOf(path)
        .filter((found) => !isAllowed(law, found))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test('the client imports no module that only lives inside a workflow', () => {
    const reached = sources
      .filter((path) => /^(?:client|authoring|cli)\//.test(path))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ target, isType }) => !isType && workflowOnly.includes(target))
          .map(({ target }) => `${path} imports ${target}`),
      );
    expect(reached).toEqual([]);
  });

  test('a system imports no other: they meet through commands and events', () => {
    const inSystems = sources.filter((path) => systemOf(path) !== undefined);
    expect(inSystems.length).toBeGreaterThan(20);
    const crossing = inSystems.flatMap((path) =>
      importsOf(path)
        .filter(({ target }) => target.startsWith('systems/') && systemOf(target) !== systemOf(path))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(crossing).toEqual([]);
  });

  test('the doors import nothing of the store, and ask the client', () => {
    const doors = sources.filter((path) => /^(?:cli|client\/mcp)\//.test(path));
    expect(doors.length).toBeGreaterThan(90);
    const reached = doors.flatMap((path) => [
      ...importsOf(path)
        .filter(({ target }) => target.startsWith('prisma/'))
        .map(({ target }) => `${path} imports ${target}`),
      ...(/\.store(?:IfUp)?\(\)/.test(codeOf(path)) ? [`${path} takes the store`] : []),
    ]);
    expect(reached).toEqual([]);
  });

  test('only the list of systems imports a system', () => {
    const reached = sources
      .filter((path) => lawOf(path) !== undefined && !path.startsWith('systems/'))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ target }) => /^systems\/[^/]+\//.test(target))
          .map(({ target }) => `${path} imports ${target}`),
      );
    expect(reached).toEqual([]);
  });

  test('no two folders import each other, at any depth, types included', () => {
    const pairs = new Map<string, string>();
    for (const path of sources.filter((source) => lawOf(source) !== undefined)) {
      for (const { target } of importsOf(path)) {
        const [from, to] = [posix.dirname(path), posix.dirname(target)];
        if (from !== to && files.includes(target)) pairs.set(`${from} ${to}`, `${path} imports ${target}`);
      }
    }
    expect(pairs.size).toBeGreaterThan(100);
    const mutual = [...pairs].filter(([pair]) => pairs.has(pair.split(' ').toReversed().join(' ')));
    expect(mutual.map(([, line]) => line)).toEqual([]);
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

const pureFolders = ['language/', 'interpreter/'];

test.each(impure)('language/ and the interpreter do without %s', (_what, pattern) => {
  const pure = sources.filter((path) => pureFolders.some((folder) => path.startsWith(folder)));
  expect(pure.filter((path) => pattern.test(codeOf(path)))).toEqual([]);
});

test('no module that all workflows of a worker share keeps state of its own', () => {
  const shared = files.filter((path) => isSource(path) && /^(?:language|interpreter|workflows)\//.test(path));
  expect(shared.length).toBeGreaterThan(100);
  expect(shared.filter((path) => /^(?:export )?(?:let|var) /m.test(codeOf(path)))).toEqual([]);
});

test('zod comes as a namespace: by its name alone, all of it would be in the bundle of the command line', () => {
  const importing = sources.filter((path) => /^import .*'zod';$/m.test(codeOf(path)));
  expect(importing.length).toBeGreaterThan(10);
  expect(importing.filter((path) => !/^import (?:type )?\* as z from 'zod';$/m.test(codeOf(path)))).toEqual([]);
});
