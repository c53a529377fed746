/**
 * Texts of which a pattern could read the rest anew at each place: at other ends of lines than `\n`, at blank lines, at
 * words that come again and again. Each takes a time that grows with the text and not with its square.
 */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { whyNotRead } from '../../../world/git/repository/read-refs.ts';
import { explainOpenAi } from '../../../world/models/openai/refusals.ts';
import { hasException } from '../../../world/files/ignore-rules.ts';
import { isWorkerGone } from '../../../world/processes/orphans.ts';
import type { Printed } from '../../../systems/code/verify/parse/finding.ts';
import { parseGo } from '../../../systems/code/verify/parse/go.ts';
import { parsePytest } from '../../../systems/code/verify/parse/junit.ts';
import { parseCargo } from '../../../systems/code/verify/parse/cargo.ts';
import { parseTypeScript } from '../../../systems/code/verify/parse/typescript.ts';
import { parseUnittest } from '../../../systems/code/verify/parse/unittest.ts';
import { ExactLines } from '../../../language/numbers/exact-lines.ts';
import { processorMs } from '../../elapsed.ts';

const LENGTH = 200_000;
const filled = (piece: string, rest = ''): string => piece.repeat(Math.floor(LENGTH / piece.length)) + rest;

const printed = (stdout: string): Printed => ({
  stdout,
  stderr: '',
  output: stdout,
  exitCode: 1,
  root: '/project',
  folder: '',
});
const event = (Action: string, more: object): string => JSON.stringify({ Action, Package: 'p', Test: 'T', ...more });
const go = (Output: string): unknown =>
  parseGo(printed(`${event('output', { Output })}\n${event('fail', {})}`), 'p').findings;
const pytest = (text: string): unknown =>
  parsePytest(printed(`<?xml?><testsuites><testcase name="t"><failure>${text}</failure></testcase></testsuites>`))
    .findings;
const typescript = (text: string): unknown => parseTypeScript(printed(text)).findings;
const unittest = (text: string): unknown => parseUnittest({ ...printed(''), stderr: text });
const cargo = (text: string): unknown => parseCargo(printed(text)).cases;
const refused = (message: string): unknown => {
  const body = { error: { message } };
  const refusal = { status: 400, headers: new Headers(), body, text: JSON.stringify(body) };
  return explainOpenAi({ name: 'openai', model: 'a', setting: 'OPENAI_API_KEY' }, refusal);
};

const CASES: [string, (text: string) => unknown, string[]][] = [
  ['rules of a .gitignore', hasException, [filled('\n', 'x\n'), filled('\r\n', 'x'), filled(' \t\n', 'x')]],
  ['what go says of a test', go, [filled('\r', '\n ..go:0: '), `=== F${filled('I')}`, filled('.go', ':')]],
  ['the traceback of a Python test', pytest, [filled('y\r', '\ny.py:0:'), filled('.py'), filled('y\u2028')]],
  ['a line of tsc', typescript, [`S${filled('(0,0): error TS0: ', '\r')}`, filled('(0,0): error TS0: ', '\u2028')]],
  [
    'the tests of unittest',
    unittest,
    [filled('a (b) ... \n'), filled('a (b)\n'), filled('FAIL: a (b)\n'), filled('.. ', '\n')],
  ],
  ['the tests of cargo', cargo, [filled('test a ... \n'), filled('test a ', '\n'), filled('a, ')]],
  ['settings of a repository', whyNotRead, [filled('\n'), filled(' \t\n'), filled('\r\n'), filled('refstorage ')]],
  ['why a provider refuses', refused, [filled('input is '), filled('input length ')]],
];

const passesMs = Math.max(
  10,
  processorMs(() => filled('a ').replaceAll(/[^\n]/g, 'x')),
);

describe.each(CASES)('%s', (_what, read, texts) => {
  test.each(texts.map((text, index) => [index + 1, text] as const))('takes text %i', (_index, text) => {
    expect(processorMs(() => read(text))).toBeLessThan(30 * passesMs);
  });
});

const pieces = (bytes: number): Uint8Array[] =>
  Array.from({ length: bytes / 16_384 }, () => new Uint8Array(16_384).fill(120));
const pushed = (all: readonly Uint8Array[]): number =>
  processorMs(() => {
    const lines = new ExactLines('exact');
    for (const piece of all) lines.push(piece);
    lines.end();
  });

test('a line that never ends, in very many pieces', () => {
  const [some, many] = [pieces(2 ** 20), pieces(2 ** 24)];
  expect(pushed(many)).toBeLessThan(60 * Math.max(pushed(some), 5));
});

test('whose a process says it is, in as many words as a variable holds', async () => {
  const before = process.cpuUsage();
  expect(await isWorkerGone(filled(':0:', '\n'))).toBe(false);
  expect(await isWorkerGone(`${hostname()}:${filled('0:', '\n')}`)).toBe(true);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(30 * passesMs);
});

test('and what tools and providers say is read as before', () => {
  expect(refused('The input is 9000 tokens, which is too long')).toMatchObject({
    finding: { kind: 'context-too-long' },
  });
  expect(whyNotRead('[extensions]\n\trefstorage = reftable\n')).toContain('reftable');
  expect(whyNotRead('[extensions]\r\n  objectFormat=sha256\r\n')).toContain('SHA-256');
  expect(whyNotRead('[core]\n\tbare = false\n')).toBeNull();
  expect(hasException('*.log\r\n  !keep.log\r\n')).toBe(true);
  expect(hasException('\\!important\n#!a\n')).toBe(false);
  expect(go('=== RUN   T\n    a_test.go:7: is wrong\n--- FAIL: T (0.00s)\n')).toMatchObject([
    { file: 'a_test.go', line: 7, message: 'a_test.go:7: is wrong' },
  ]);
  expect(pytest('def test():\r\nE   x\r\na/b.py:3: AssertionError\r\n')).toMatchObject([{ file: 'a/b.py', line: 3 }]);
  expect(typescript("src/a(b).ts(3,5): error TS2322: Type 'x'.\r\n")).toEqual([
    { file: 'src/a(b).ts', line: 3, column: 5, message: "TS2322: Type 'x'." },
  ]);
});
