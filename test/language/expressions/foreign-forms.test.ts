/** A form of JavaScript that is no part of the language is named, with the nearest that is; what is part of it is none. */
import { expect, test } from 'vitest';
import { parseExpression } from '../../../language/expression/parse.ts';

const messageOf = (text: string): string | undefined => {
  const parsed = parseExpression(text);
  return parsed.ok ? undefined : parsed.problem.message;
};

test.each([
  ['$a.match(/x/)', 'patterns (/…/)'],
  ["typeof $a === 'string'", '"typeof" is not'],
  ['new Date().getTime() > 5', '$NOW'],
  ['new Set($a)', 'a list is written'],
  ['$a.map(x => { return x })', 'one expression and no body'],
  ['$a.filter(function (x) { return x })', 'write x => x.ok'],
  ['$a += 1', 'step of type "set"'],
  ['$a++', 'changes no variable'],
  ['1 in $a', '.includes(x)'],
  ['$a instanceof Array', 'Array.isArray'],
  ['await $a', 'nothing in an expression waits'],
  ['if ($a) 1', 'no statement'],
  ['$a[0] ** 2 > 1', 'Math.pow'],
  ['Math.max(...$a) > 1', 'reduce'],
  ['tag`x`', 'no name before it'],
  ['0x10 > $a[0]', 'decimal'],
  ['$a = 1', 'a variable is set by a step of type "set"'],
])('%s', (text, said) => {
  expect(messageOf(text)).toContain(said);
});

test.each([
  '6 / $a[0] / 2 > 1',
  "`a ${$a[0]}` === 'typeof new /x/ in ** ++'",
  "[...$a, 'x in y'].length > 1",
  '$a[0] - -1 > 1',
  '$a.map(x => ({ typeof: x }))',
])('%s is read', (text) => {
  expect(messageOf(text)).toBeUndefined();
});

test('what is in quotes is no form', () => {
  expect(messageOf("$a.contains('typeof /x/ **')")).toContain('there is no method ".contains"');
});

test('hostile texts are looked through quickly', () => {
  const since = performance.now();
  for (const text of ['(', '/', '$a ', '=> ', "'", '( ', '... (', 'a --', '\\'])
    messageOf(`#${text.repeat(Math.floor(9_990 / text.length))}`);
  expect(performance.now() - since).toBeLessThan(2_000);
});
