/** What a `$ref` leads to, read for the definition that holds it: bounded by what is around it, and never called missing where it is only wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OpenClient } from '../../../client/open-client.ts';
import { findDefinition } from '../../../client/find-definition.ts';
import { runTestCase, subjectOf } from '../../../authoring/definition-tests/run-case.ts';
import { readCases } from '../../../authoring/definition-tests/test-file.ts';
import { filesAround } from '../../../client/read-definition.ts';
import { readDefinitionFile } from '../../../world/definitions/definition-files.ts';
import type { Definition } from '../../../language/model.ts';
import type { Problem } from '../../../language/problems.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { readNestedDefinition } from '../../../language/read/nested-definition.ts';
import { catalogue, NO_FILES } from '../../catalogue.ts';

const until = { type: 'until', check: '$t.exitCode === 0' } as const;
const shell = { type: 'shell', command: 'npm test', outputTo: 't' } as const;
const once = { type: 'once' } as const;
const refersTo = (name: string, more: object = {}): object => ({
  steps: [{ type: 'sentinel', definition: { $ref: name } }],
  ...more,
});
const within = { safety: { timeoutMs: 600_000 } };

const FILES: Record<string, object> = {
  retrier: { steps: [shell], loop: until },
  'inner-retrier': {
    steps: [{ type: 'condition', check: 'true', then: [{ type: 'loop', loop: until, steps: [shell] }] }],
  },
  'inline-retrier': { steps: [{ type: 'sentinel', definition: { name: 'within', steps: [shell], loop: until } }] },
  'bounded-retrier': { steps: [shell], loop: until, safety: { maxIterations: 9 } },
  middle: refersTo('retrier'),
  'bounded-middle': refersTo('retrier', within),
  typo: { steps: [{ type: 'shell', comand: 'npm test' }] },
  'to-typo': refersTo('typo'),
};
const BOSSES: Record<string, object> = {
  boss: refersTo('retrier', within),
  'boss-of-passes': refersTo('middle', { safety: { maxIterations: 3 } }),
  'boss-of-inline': {
    steps: [{ type: 'sentinel', definition: { name: 'around', ...refersTo('inner-retrier'), ...within } }],
  },
  'boss-of-bounded': refersTo('bounded-retrier'),
  'boss-of-bounded-middle': refersTo('bounded-middle'),
};
const UNBOUNDED: Record<string, string> = {
  retrier: 'retrier',
  middle: 'retrier',
  'inner-retrier': 'inner-retrier',
  'inline-retrier': 'inline-retrier',
};

const WRONG: Record<string, RegExp> = {
  typo: /^"typo" has a problem \(.*typo(\.json)?, at steps\.0\.comand\): .*"command"/,
  'to-typo': /^"typo" \(reached through "to-typo"\) has a problem \(.*typo(\.json)?, at steps\.0\.comand\): /,
  cut: /^"cut" has a problem \(.*cut(\.json)?, at .*\): |^"cut" has a problem \(.*cut(\.json)?\): /,
};

let folder: string;
/** Its home is empty: no server is up, so nothing is stored. */
let nothingStored: OpenClient;
const fileOf = (name: string): string => join(folder, `${name}.json`);
const write = (name: string, more: object): void =>
  writeFileSync(fileOf(name), JSON.stringify({ name, loop: once, ...more }));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sentinel-refs-'));
  nothingStored = new OpenClient({ env: { SENTINEL_HOME: join(folder, 'home') } });
  for (const [name, more] of Object.entries({ ...FILES, ...BOSSES })) write(name, more);
  for (const name of Object.keys(UNBOUNDED)) write(`boss-of-${name}`, refersTo(name));
  writeFileSync(fileOf('cut'), '{"name": "cut", ');
  for (const name of Object.keys(WRONG)) write(`boss-of-${name}`, refersTo(name, within));
});

afterAll(async () => {
  await nothingStored.close();
  rmSync(folder, { recursive: true });
});

type Read = (name: string) => Promise<{ definition: Definition | null; problems: Problem[] }>;
const errorsOf = (problems: readonly Problem[]): Problem[] => problems.filter(({ severity }) => severity === 'error');

/** Each place that reads a definition with what its references lead to. */
const READERS: [string, Read][] = [
  [
    'validate and simulate',
    (name) => {
      const around = filesAround(fileOf(name), { catalogue }, folder);
      return Promise.resolve(readDefinitionFile(fileOf(name), around));
    },
  ],
  [
    'run',
    (name) =>
      findDefinition(
        fileOf(name),
        folder,
        { catalogue },
        nothingStored.definitionsFor({ persona: 'ada', project: folder }),
      ),
  ],
  [
    'a test file',
    (name) => {
      const around = filesAround(fileOf(name), { catalogue }, folder);
      return Promise.resolve(subjectOf(caseOf({}), join(folder, `${name}.sentinel-test.json`), around));
    },
  ],
  [
    'a test with a library',
    (name) => {
      const definition = {
        name,
        loop: once,
        ...(BOSSES[name] ??
          refersTo(name.replace('boss-of-', ''), name.replace('boss-of-', '') in WRONG ? within : {})),
      };
      return Promise.resolve(
        subjectOf(caseOf({ definition, library: libraryOfCase() }), 'x.sentinel-test.json', NO_FILES),
      );
    },
  ],
];

function libraryOfCase(): object {
  return Object.fromEntries(
    Object.entries({ ...FILES, cut: { steps: 1 } }).map(([name, more]) => [name, { name, loop: once, ...more }]),
  );
}

function caseOf(more: object): ReturnType<typeof firstCase> {
  return firstCase({ expect: {}, ...more });
}

function firstCase(value: object) {
  const read = readCases(value, 'case');
  if ('mistakes' in read || read.cases[0] === undefined) throw new Error(JSON.stringify(read));
  return read.cases[0];
}

describe.each(READERS)('%s', (_where, read) => {
  test.each(Object.keys(BOSSES))('%s bounds what it refers to', async (name) => {
    const { definition, problems } = await read(name);
    expect(errorsOf(problems)).toEqual([]);
    expect(definition?.name).toBe(name);
  });

  test.each(Object.entries(UNBOUNDED))('nothing bounds %s', async (name, culprit) => {
    const { definition, problems } = await read(`boss-of-${name}`);
    expect(errorsOf(problems)).toEqual([
      expect.objectContaining({
        code: 'UNBOUNDED_LOOP',
        path: 'steps.0.definition.$ref',
        message: expect.stringContaining(`"${culprit}"`),
      }),
    ]);
    expect(definition).toBeNull();
  });

  test.each(Object.entries(WRONG))('%s is wrong, not missing', async (name, says) => {
    const { definition, problems } = await read(`boss-of-${name}`);
    const errors = errorsOf(problems);
    expect(errors.map(({ code, path }) => `${code} ${path}`)).not.toContain(
      'UNKNOWN_DEFINITION steps.0.definition.$ref',
    );
    expect(errors.every(({ path }) => path === 'steps.0.definition.$ref')).toBe(true);
    expect(errors.map(({ message }) => message)).toContainEqual(expect.stringMatching(says));
    expect(definition).toBeNull();
  });

  test('what is not there is missing', async () => {
    write('boss-of-nobody', refersTo('nobody', within));
    expect(errorsOf((await read('boss-of-nobody')).problems).map(({ code }) => code)).toEqual(['UNKNOWN_DEFINITION']);
  });

  test('what is not there is missing, and the nearest name is told', async () => {
    write('boss-of-retreir', refersTo('retreir', within));
    expect(errorsOf((await read('boss-of-retreir')).problems)).toMatchObject([
      {
        code: 'UNKNOWN_DEFINITION',
        message: 'there is no definition "retreir"; write "retrier"',
        fix: 'write "retrier"',
      },
    ]);
  });
});

test.each(['retrier', 'inner-retrier'])('%s alone stays refused', async (name) => {
  expect(
    errorsOf(
      (
        await findDefinition(
          fileOf(name),
          folder,
          { catalogue },
          nothingStored.definitionsFor({ persona: 'ada', project: folder }),
        )
      ).problems,
    ).map(({ code }) => code),
  ).toEqual(['UNBOUNDED_LOOP']);
});

test('a case walks through the referenced loop', async () => {
  const around = filesAround(fileOf('boss'), { catalogue }, folder);
  const given = caseOf({ replies: { 'npm test': { exitCode: 0 } }, expect: { outcome: 'completed' } });
  expect(await runTestCase(given, subjectOf(given, join(folder, 'boss.sentinel-test.json'), around))).toMatchObject({
    ok: true,
    problems: [],
  });
});

describe('a name that a variable holds', () => {
  const retrier = parseDefinition({ name: 'retrier', ...FILES['retrier'] }, { catalogue, isBounded: true });
  const library = retrier.ok ? { retrier: retrier.definition } : {};
  const read = (value: string, isBounded: boolean): object =>
    readNestedDefinition(
      { value, library, around: 'boss', label: 'x', names: [], isBounded },
      { catalogue, stored: {} },
    );

  test.each([
    'retrier',
    '{"$ref": "retrier"}',
    '{"name": "m", "steps": [{"type": "sentinel", "definition": {"$ref": "retrier"}}]}',
  ])('%s', (value) => {
    expect(read(value, true)).toHaveProperty('definition');
    expect(read(value, false)).toMatchObject({ findings: [{ code: 'UNBOUNDED_LOOP' }] });
  });
});
