/**
 * The kit, held against this implementation: every case gives what it expects, and no way of running
 * it (continue-as-new at every place, quick steps in segments) changes anything but what the case
 * itself leaves open.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareRun, wayTaken } from '../../authoring/definition-tests/compare.ts';
import { differenceLines } from '../../authoring/definition-tests/difference-lines.ts';
import { runTestCase, scenarioOf, subjectOf } from '../../authoring/definition-tests/run-case.ts';
import { SUFFIX } from '../../authoring/definition-tests/run-suite.ts';
import { readCases, type TestCase } from '../../authoring/definition-tests/test-file.ts';
import { PLAIN } from '../../client/show/paint.ts';
import { Definition, LoopConfig, Step, type StepType } from '../../language/model.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import { Budget, EscalationRule, Retry, Rule, Safety } from '../../language/settings.ts';
import { MODES, runCase, type Outcome } from '../interpreter/harness/run-case.ts';
import { catalogue, NO_FILES } from '../catalogue.ts';

const folder = import.meta.dirname;
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(SUFFIX));

function casesIn(file: string): TestCase[] {
  const read = readCases(JSON.parse(readFileSync(join(folder, file), 'utf8')), basename(file, SUFFIX));
  if ('mistakes' in read) throw new Error(`${file}: ${read.mistakes.join('; ')}`);
  return read.cases;
}

const cases = files.flatMap((file) =>
  casesIn(file).map((given): [string, string, TestCase] => [file.slice(0, -SUFFIX.length), given.name, given]),
);

// The kit stands alone: what a definition refers to is in the case.
describe.each(cases)('%s: %s', (file, _name, given) => {
  const subject = subjectOf(given, join(folder, file + SUFFIX), NO_FILES);

  test('gives what it expects', async () => {
    const report = await runTestCase(given, subject);
    expect(report.ok ? [] : differenceLines(report, PLAIN)).toEqual([]);
    expect({ ok: report.ok, unused: report.unused }).toEqual({ ok: true, unused: [] });
  });

  test.skipIf(subject.definition === null)('however it is run', async () => {
    if (subject.definition === null) return;
    const scenario = scenarioOf(given, subject.definition, subject);
    /** The first run that took each of the ways that the case leaves open. */
    const first = new Map<number | null, Omit<Outcome, 'runs'>>();
    for (const mode of MODES) {
      const { runs: _runs, ...outcome } = await runCase(scenario, mode, given);
      expect({ mode: mode.name, differences: compareRun(given.expect, outcome) }).toEqual({
        mode: mode.name,
        differences: [],
      });
      const way = wayTaken(given.expect, outcome);
      if (!first.has(way)) first.set(way, outcome);
      expect({ mode: mode.name, ...outcome }).toEqual({ mode: mode.name, ...first.get(way) });
    }
  });
});

test('cases say what they expect, and where', () => {
  const silent = cases.filter(
    ([
      ,
      ,
      {
        expect: { trace, either, problems },
      },
    ]) => trace === undefined && problems === undefined && either?.every((way) => way.trace !== undefined) !== true,
  );
  expect(silent.map(([file, name]) => `${file}: ${name}`)).toEqual([]);
  const names = cases.map(([file, name]) => `${file}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
});

const STEP_TYPES: readonly StepType[] = [
  'shell',
  'command',
  'llm',
  'watch',
  'emit',
  'approval',
  'condition',
  'loop',
  'parallel',
  'sentinel',
];
const LOOPS = ['once', 'count', 'until', 'while', 'continuous', 'event'];

test('every form of step and of loop is in it', () => {
  const text = JSON.stringify(cases.map(([, , { definition }]) => definition));
  const missing = [...STEP_TYPES, ...LOOPS].filter((type) => !text.includes(`"type":"${type}"`));
  expect(missing).toEqual([]);
});

/** What a run does not depend on, or what no run without a model and an operating system can show. */
const BESIDE: ReadonlySet<string> = new Set(['$schema', 'id', 'description', 'reportTo', 'maxMemoryMb']);

/** The objects of all canonical definitions in the kit, by what they are: a type of step or loop, or the key they stand under. */
function objectsIn(value: unknown, under: string, found: Map<string, Set<string>>): Map<string, Set<string>> {
  if (Array.isArray(value)) for (const item of value) objectsIn(item, under, found);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return found;
  const type =
    'type' in value && under !== 'data' && under !== 'params'
      ? `${under === 'loop' ? 'loop' : 'step'} ${String(value.type)}`
      : under;
  const keys = found.get(type) ?? new Set();
  for (const [key, inner] of Object.entries(value)) objectsIn(inner, keys.add(key) && key, found);
  return found.set(type, keys);
}

const known = (): Definition => ({ name: 'known', steps: [], loop: { type: 'once' } });

test('every key of the language is in it', () => {
  const read = cases
    .map(([, , { definition }]) => parseDefinition(definition, { catalogue, knownRefs: known }))
    .flatMap((result) => (result.ok ? [result.definition] : []));
  const found = objectsIn(read, 'definition', new Map());
  const typed = [
    ...Step.options.map((option) => ['step', option] as const),
    ...LoopConfig.options.map((option) => ['loop', option] as const),
  ];
  const kinds: [string, { shape: object }][] = typed.map(([kind, option]) => [
    `${kind} ${[...option.shape.type.values].join()}`,
    option,
  ]);
  kinds.push(
    ['definition', Definition],
    ['safety', Safety],
    ['budget', Budget],
    ['retry', Retry],
    ['rules', Rule],
    ['escalateOn', EscalationRule],
  );
  const missing = kinds.flatMap(([kind, { shape }]) =>
    Object.keys(shape)
      .filter((key) => !BESIDE.has(key) && found.get(kind)?.has(key) !== true)
      .map((key) => `${kind}: ${key}`),
  );
  expect(missing).toEqual([]);
});
