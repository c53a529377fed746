/**
 * Long text by strangers, through whatever reads it in the worker: each takes a time that grows with the text
 * and not with its square. It is held against what plain passes over such a text cost here and now.
 */
import { describe, expect, test } from 'vitest';
import { indentUnit } from '../../../systems/code/editing/indentation.ts';
import { findPassage } from '../../../systems/code/editing/passage.ts';
import { Placeholders } from '../../../world/models/cassette/placeholders.ts';
import { readArguments } from '../../../world/models/answer/json-arguments.ts';
import { callsInText } from '../../../activities/turns/told-calls.ts';
import { parseAnyOutput } from '../../../systems/code/verify/parse/any-output.ts';
import { parseCargo } from '../../../systems/code/verify/parse/cargo.ts';
import type { Printed } from '../../../systems/code/verify/parse/finding.ts';
import { parseGo } from '../../../systems/code/verify/parse/go.ts';
import { parseJest } from '../../../systems/code/verify/parse/jest.ts';
import { parseNodeTest, parsePytest } from '../../../systems/code/verify/parse/junit.ts';
import { parseTypeScript } from '../../../systems/code/verify/parse/typescript.ts';
import { readJson } from '../../../language/expression/json-text.ts';
import { picturesOf } from '../../../language/models/pictures.ts';
import { replyValue } from '../../../language/models/reply-value.ts';
import { programOf } from '../../../language/read/nested-definition.ts';
import { processorMs } from '../../elapsed.ts';

const LENGTH = 300_000;
const filled = (piece: string, rest = ''): string => piece.repeat(Math.floor(LENGTH / piece.length)) + rest;

const TEXTS: [string, string][] = [
  ['<tool_call> that never end', filled('<tool_call>')],
  ['<function=> that never end', filled('<function=a>')],
  ['names of functions that never end', filled('<function=')],
  ['calls of nothing', filled('<tool_call></tool_call>')],
  ['fences that never end', filled('```json\n', 'x')],
  ['fences in fences', filled('```\n```json\n')],
  ['blanks', `${filled(' ')}x`],
  ['ends of lines', `${filled('\n')}x`],
  ['lines of blanks', filled(' \t\n', 'x')],
  ['tabs and a sign', `${filled('\t')}x`],
  ['digits', filled(`${'9'.repeat(299)}x`)],
  ['one number', filled('9')],
  ['backslashes', filled('\\', '"')],
  ['quotes', filled('"')],
  ['quotes and backslashes', filled('\\"')],
  ['brackets', filled('[')],
  ['braces on lines', filled('{"a":\n')],
  ['parentheses', filled('(1,1')],
  ['panics', filled("panicked at '")],
  ['blocks of cargo', `${filled('---- a ----\n')}panicked at '`],
  ['colons', filled('a:1')],
  ['files', filled('x.go:1:')],
  ['stacks', filled('    at (')],
  ['one stack', `    at ${filled('a ')}`],
  ['stacks of Python', filled('a.py:1: ')],
  ['markup', `<?xml?>${filled('<a>')}</testsuites>`],
  ['attributes', `<?xml?><testsuites ${filled('a="b" ')}></testsuites>`],
  ['entities', `<?xml?><testsuites>${filled('&lt;')}</testsuites>`],
  ['base64 with blanks', `iVBORw0KGgo${filled(' ')}!`],
  ['tests within tests', filled('{"Action":"fail","Package":"a","Test":"a/b"}\n')],
  ['escapes', filled('\u001B[')],
];

const printedOf = (text: string): Printed => ({
  stdout: text,
  stderr: text,
  output: text,
  exitCode: 1,
  root: '/project',
  folder: '',
});

const tools = [{ name: 'code/read', description: 'Reads.', parameters: { type: 'object' } }];
const READERS: [string, (text: string) => unknown][] = [
  ['calls in text', (text) => callsInText(text, tools)],
  ['the value of a reply', replyValue],
  ['JSON', readJson],
  ['arguments', readArguments],
  ['a nested definition', (text) => programOf(text)],
  ['pictures', (text) => picturesOf(text)],
  ['placeholders', (text) => new Placeholders({ project: '/project', root: 'run-0123456789abcdef' }).request(text)],
  ['the end of a passage', (text) => findPassage('a file', text)],
  ['the unit of indentation', indentUnit],
  ['any output', (text) => parseAnyOutput(printedOf(text))],
  ['cargo', (text) => parseCargo(printedOf(text))],
  ['go', (text) => parseGo(printedOf(text), 'module')],
  ['jest', (text) => parseJest(printedOf(text))],
  ['JUnit', (text) => parseNodeTest(printedOf(text))],
  ['pytest', (text) => parsePytest(printedOf(text))],
  ['TypeScript', (text) => parseTypeScript(printedOf(text))],
];

const passesMs = Math.max(
  10,
  processorMs(() => filled('a ').replaceAll(/[^\n]/g, 'x')),
);

describe.each(READERS)('%s', (_reader, read) => {
  test.each(TEXTS)('takes %s', (_what, text) => {
    expect(processorMs(() => read(text))).toBeLessThan(40 * passesMs);
  });
});
