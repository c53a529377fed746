/**
 * The reader, case by case. `bad/<CODE>*.json`: a definition (or text) and its problems, in order;
 * `good/*.json`: a definition that is accepted, with what was inferred and the canonical form.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { definitionBytesMax, nestingDepthMax, stepsMax } from '../../../language/limits.ts';
import type { Definition } from '../../../language/model.ts';
import { PROBLEMS } from '../../../language/problems.ts';
import { FAULT_CODES } from '../../../language/expression/scope.ts';
import { parseDefinition, parseDefinitionText, type ReadResult } from '../../../language/read/definition.ts';
import { processorMs } from '../../elapsed.ts';
import { catalogue } from '../../catalogue.ts';

interface BadCase {
  definition?: { generate?: 'steps' | 'text' } & Record<string, Json>;
  text?: string;
  format?: 'json' | 'yaml';
  problems: Found[];
  message?: string;
  /** The problems are all warnings: the definition is accepted. */
  warnings?: true;
}

interface GoodCase {
  definition: Json;
  canonical?: Json;
  inferred?: string[];
  loops?: Array<[string, Json]>;
}

const shell = { type: 'shell', command: 'true' } as const;
const refersTo = (name: string): Definition['steps'] => [{ type: 'sentinel', definition: { $ref: name } }];
const STORED: Record<string, Definition['steps']> = {
  known: [shell],
  'leads-nowhere': refersTo('nobody'),
  'circle-a': [{ type: 'condition', check: 'true', then: refersTo('circle-b') }],
  'circle-b': [{ type: 'parallel', branches: [refersTo('circle-a')] }],
  chain: refersTo('known'),
  'reads-item': [{ type: 'emit', event: 'e', data: '$currentChallenge.input' }],
  retries: [{ type: 'loop', loop: { type: 'until', check: '$ok' }, steps: [shell] }],
  'to-retries': refersTo('retries'),
};

function knownRefs(name: string): Definition | undefined {
  const steps = STORED[name];
  return steps === undefined ? undefined : { name, steps, loop: { type: 'once' } };
}

const folder = new URL('../../cases/definitions/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const readGood = (file: string): GoodCase => read(`good/${file}`) as GoodCase;

interface Found {
  code: string;
  path: string;
  /** `null`: none is offered. */
  fix?: string | null;
  message?: string;
}

function inOrder(problems: readonly Found[]): Found[] {
  return problems.toSorted((a, b) => `${a.path} ${a.code}`.localeCompare(`${b.path} ${b.code}`));
}

/** What is not built yet is no matter of the definition: a case speaks of it only where it is about it. */
const NOT_YET: ReadonlySet<string> = new Set(['COMMAND_NOT_BUILT']);

const sentence = (result: ReadResult): string[] =>
  result.problems.map(({ code, path, message }) => `${code} ${path}: ${message}`);

/** In the canonical form a key without effect is gone. */
/** Of what was read; what the text alone shows is gone by then. */
const lastingCodes = ({ problems }: ReadResult): string[] =>
  problems
    .map(({ code }) => code)
    .filter((code) => !['KEY_WITHOUT_EFFECT', 'NUMBER_CHANGES', 'YAML_WORD'].includes(code));

function readBad({ definition, text, format }: BadCase): ReadResult {
  if (definition?.generate === 'steps')
    return parseDefinition(
      { name: 'x', steps: Array.from({ length: stepsMax + 1 }, () => shell) },
      { catalogue, knownRefs },
    );
  if (definition?.generate === 'text')
    return parseDefinitionText(`{"name":"${'x'.repeat(definitionBytesMax)}"}`, { catalogue, knownRefs });
  return text === undefined
    ? parseDefinition(definition, { catalogue, knownRefs })
    : parseDefinitionText(text, { catalogue, knownRefs }, format);
}

describe('bad definitions', () => {
  test.each(readdirSync(new URL('bad/', folder)))('%s', (file) => {
    const bad = read(`bad/${file}`) as BadCase;
    const result = readBad(bad);
    const expected = inOrder(bad.problems);
    // A case states a fix or a message only where it is about them.
    const spokenOf = new Set(expected.map(({ code }) => code));
    const found = inOrder(result.problems.filter(({ code }) => spokenOf.has(code) || !NOT_YET.has(code))).map(
      ({ code, path, fix, message }, index) => ({
        code,
        path,
        ...(expected[index]?.fix === undefined ? {} : { fix: fix ?? null }),
        ...(expected[index]?.message === undefined ? {} : { message }),
      }),
    );
    expect(found, sentence(result).join('\n')).toEqual(expected);
    expect(result.ok).toBe(bad.warnings === true);
    // What was filled in is warned of as what is stated.
    if (result.ok)
      expect(lastingCodes(parseDefinition(result.definition, { catalogue, knownRefs }))).toEqual(lastingCodes(result));
    expect(result.problems.map((problem) => problem.message).join('\n')).toContain(bad.message ?? '');
  });
});

describe('good definitions', () => {
  test.each(readdirSync(new URL('good/', folder)))('%s', (file) => {
    const good = readGood(file);
    const result = parseDefinition(good.definition, { catalogue, knownRefs });
    expect(sentence({ ...result, problems: result.problems.filter(({ code }) => !NOT_YET.has(code)) })).toEqual([]);
    expect(result.inferred).toEqual(good.inferred ?? []);
    const definition = result.ok ? result.definition : undefined;
    if (good.canonical !== undefined) expect(definition).toEqual(good.canonical);
    for (const [path, loop] of good.loops ?? []) {
      expect(path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], definition)).toEqual(
        loop,
      );
    }
    // The canonical form is a fixed point, and reading leaves the author's value alone.
    expect(parseDefinition(definition, { catalogue, knownRefs })).toMatchObject({ ok: true, definition, inferred: [] });
    expect(good.definition).toEqual(readGood(file).definition);
  });
});

const least = (work: () => void): number => Math.min(...Array.from({ length: 5 }, () => processorMs(work)));

/** About as long as a definition may be. */
const filled = (piece: string, before = ''): string =>
  before + piece.repeat(Math.floor((definitionBytesMax - 10) / piece.length));

describe('refused in well under a second', () => {
  const deepSteps = (depth: number): unknown => {
    let step: unknown = shell;
    for (let level = 0; level < depth; level += 1) step = { type: 'condition', check: 'true', then: [step] };
    return { name: 'deep', steps: [step] };
  };
  test.each<[string, string, string]>([
    ['5 MB of text', 'x'.repeat(5_000_000), 'TOO_LARGE'],
    [
      '10,000 steps',
      JSON.stringify({ name: 'x', steps: Array.from({ length: 10_000 }, () => shell) }),
      'TOO_MANY_STEPS',
    ],
    ['200 levels of steps', JSON.stringify(deepSteps(200)), 'TOO_DEEP'],
    ['100,000 levels of arrays', '['.repeat(100_000) + ']'.repeat(100_000), 'TOO_DEEP'],
    ['an open text of 1 MB', `{"a": "${'x'.repeat(1_000_000)}`, 'NOT_JSON'],
    ['brackets that never close', '['.repeat(1_000_000), 'TOO_DEEP'],
    [
      'an expression of 1 MB',
      JSON.stringify({ name: 'x', steps: [shell], loop: { type: 'until', check: '('.repeat(1_000_000), max: 1 } }),
      'BAD_EXPRESSION',
    ],
    [
      'many values',
      JSON.stringify({ name: 'x', steps: [{ ...shell, args: Array.from({ length: 200_000 }, () => 1) }] }),
      'TOO_LARGE',
    ],
  ])('%s', (_what, text, code) => {
    let result = parseDefinitionText('', { catalogue });
    expect(processorMs(() => void (result = parseDefinitionText(text, { catalogue })))).toBeLessThan(900);
    expect(result.problems.map((problem) => problem.code)).toContain(code);
    expect(result.ok).toBe(false);
  });

  test.each<[string, string, string]>([
    ['brackets', filled('['), 'TOO_DEEP'],
    ['objects within objects', filled('{"a":[{"b":'), 'TOO_DEEP'],
    ['empty objects', filled('{},', '['), 'TOO_LARGE'],
    ['numbers', filled('1,', '['), 'TOO_LARGE'],
    ['keys', filled('"":1,', '{'), 'TOO_LARGE'],
    ['words', filled('true,', '['), 'TOO_LARGE'],
    ['as many values as may be', `${'{},'.repeat(99_990).replace('{}', '[{}')}${' '.repeat(700_000)}`, 'NOT_JSON'],
    ['brackets in a text that never ends', filled('[', '"'), 'NOT_JSON'],
    ['marked characters', filled(String.raw`\"`, '["'), 'NOT_JSON'],
    ['line ends', filled('\n'), 'NOT_JSON'],
  ])('a text at the bound of its size, and no JSON, takes a few times what JSON takes: %s', (_what, text, code) => {
    const list = `[${'{},'.repeat(definitionBytesMax / 3 - 2)}{}]`;
    const jsonMs = least(() => void JSON.parse(list));
    const ms = least(() => expect(parseDefinitionText(text, { catalogue }).problems[0]?.code).toBe(code));
    expect(ms / jsonMs).toBeLessThan(4);
  });

  test('the largest that is accepted is read in a few seconds on a busy machine', () => {
    const steps = Array.from({ length: stepsMax }, (_, index) => ({
      ...shell,
      command: `echo $step${Math.max(0, index - 1)} $currentThing`,
      outputTo: `step${index}`,
      name: `s${index}`,
    }));
    let result = parseDefinition(null, { catalogue });
    expect(processorMs(() => void (result = parseDefinition({ name: 'x', steps }, { catalogue })))).toBeLessThan(3_000);
    expect(sentence(result).slice(1, 3)).toEqual([]);
  });

  test('depth: accepted at the bound, refused one past it', () => {
    const data = (depth: number): unknown => (depth === 0 ? 1 : [data(depth - 1)]);
    const within = { name: 'x', steps: [{ type: 'emit', event: 'e', data: data(nestingDepthMax - 3) }] };
    const beyond = { name: 'x', steps: [{ type: 'emit', event: 'e', data: data(nestingDepthMax - 2) }] };
    expect(sentence(parseDefinition(within, { catalogue }))).toEqual([]);
    expect(parseDefinition(beyond, { catalogue }).problems.map((problem) => problem.code)).toEqual(['TOO_DEEP']);
  });
});

test('values that are not JSON are problems, not crashes', () => {
  const circle: Record<string, unknown> = { name: 'x' };
  circle['steps'] = [circle];
  for (const value of [undefined, null, 1, 'x', [], circle, { name: 'x', steps: [() => 1] }, { name: Number.NaN }]) {
    expect(parseDefinition(value, { catalogue }).ok).toBe(false);
  }
});

test('every code has a bad case and a section of docs/problems.md, and every bad case has a code', () => {
  const cases = readdirSync(new URL('bad/', folder)).map((file) => file.replace(/(?:-.*)?\.json$/, ''));
  const codes = Object.keys(PROBLEMS);
  // An unreadable file never reaches the reader; the command line's own tests cover it.
  // What these are about are files: file-references.test.ts and usage.test.ts have them.
  expect([...new Set(cases), 'FILE_NOT_READABLE', 'PATH_OUTSIDE_PROJECT'].toSorted()).toEqual(codes.toSorted());
  const explained = readFileSync(new URL('../../../docs/problems.md', import.meta.url), 'utf8');
  const sections = Array.from(explained.matchAll(/^## ([A-Z_]+)\n\n[A-Z`"].*\.\n\n\S/gm), ([, code = '']) => code);
  expect(sections.toSorted()).toEqual([...new Set([...codes, ...FAULT_CODES])].toSorted());
});
