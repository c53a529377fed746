/** The expression language, case by case: test/cases/expressions/*.json states expression and result. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Budget } from '../../../language/expression/budget.ts';
import { tryEvaluate } from '../../../language/expression/evaluate.ts';
import { parseExpression, referencesOf } from '../../../language/expression/parse.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import {
  evaluationStepsMax,
  expressionDepthMax,
  expressionLengthMax,
  expressionNodesMax,
  stringLengthMax,
} from '../../../language/limits.ts';
import { scopeOf } from '../../../language/expression/scope.ts';
import { defined } from '../../../language/defined.ts';
import { processorMs } from '../../elapsed.ts';

interface Suite {
  scope: JsonObject;
  /** `lost`: names without a value that the value does not show. */
  cases: Array<{ expression: string; value?: Json; undefined?: true; code?: string; lost?: string[] }>;
}

const folder = new URL('../../cases/expressions/', import.meta.url);

describe.each(readdirSync(folder))('%s', (file) => {
  const suite = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Suite;
  test.each(suite.cases)('$expression', ({ expression, value, code, lost }) => {
    const result = tryEvaluate(expression, scopeOf(suite.scope));
    if (code === undefined) expect(result).toEqual({ ok: true, value, ...defined({ lost }) });
    else expect(result).toMatchObject({ ok: false, code });
    expect(tryEvaluate(expression, scopeOf(suite.scope))).toEqual(result);
  });
});

const nested = (depth: number): string => `${'('.repeat(depth)}1${')'.repeat(depth)}`;

test.each([
  ['length', `'${'x'.repeat(expressionLengthMax - 2)}'`, `'${'x'.repeat(expressionLengthMax - 1)}'`],
  ['depth', nested(expressionDepthMax), nested(expressionDepthMax + 1)],
  ['unary operators in a row', `${'!'.repeat(expressionDepthMax)}1`, `${'!'.repeat(expressionDepthMax + 1)}1`],
  ['ternaries', `${'1?2:'.repeat(expressionDepthMax)}3`, `${'1?2:'.repeat(expressionDepthMax + 1)}3`],
  ['parts', `1${'+1'.repeat((expressionNodesMax - 2) / 2)}`, `1${'+1'.repeat(expressionNodesMax / 2)}`],
])('bound on %s: accepted at it, refused one past it', (_name, within, beyond) => {
  expect(parseExpression(within).ok).toBe(true);
  expect(parseExpression(beyond)).toMatchObject({ ok: false, problem: { code: 'EXPRESSION_INVALID' } });
});

test.each([
  '('.repeat(1_000_000),
  '!'.repeat(9_999),
  'a['.repeat(3_000),
  `${'a.'.repeat(4_000)}a`,
  `${'a=>'.repeat(3_000)}a`,
  '`${'.repeat(2_000),
  '{{a}}'.repeat(2_000),
  '{'.repeat(10_000),
  `x${' '.repeat(9_990)}y`,
])('refuses hostile text quickly (case %#)', (text) => {
  expect(processorMs(() => expect(parseExpression(text).ok).toBe(false))).toBeLessThan(500);
});

describe('the budget', () => {
  const many = scopeOf({
    list: Array.from({ length: 2_000 }, (_, index) => index),
    text: 'x'.repeat(stringLengthMax),
    deep: deepValue(5_000),
  });

  test.each([
    ['$list.some(a => $list.some(b => $list.some(c => a + b + c < 0)))', 'EXPRESSION_BUDGET'],
    ['$list.map(x => $text + x).length', 'VALUE_TOO_LARGE'],
    ['$list.map(x => $text.slice(1)).length', 'EXPRESSION_BUDGET'],
    ["$list.map(x => $text.includes('y')).length", 'EXPRESSION_BUDGET'],
    ["$text.replaceAll('x', 'yy').length", 'EXPRESSION_BUDGET'],
    ["$text.split('').length", 'EXPRESSION_BUDGET'],
    ['$list.map(x => $list).join("")', 'EXPRESSION_BUDGET'],
    ['`${$text}${$text}`', 'VALUE_TOO_LARGE'],
    ['$list.map(x => $text === `${$text}`)', 'EXPRESSION_BUDGET'],
  ])('ends %s', (expression, code) => {
    expect(processorMs(() => expect(tryEvaluate(expression, many)).toMatchObject({ ok: false, code }))).toBeLessThan(
      1_000,
    );
  });

  test('is spent exactly: enough at the bound, too little one below it', () => {
    const steps = 1 + 1 + 2;
    expect(tryEvaluate('$a + 1', scopeOf({ a: 1 }), new Budget({ steps: 3, characters: 0 }))).toEqual({
      ok: true,
      value: 2,
    });
    expect(tryEvaluate('$a + 1', scopeOf({ a: 1 }), new Budget({ steps: steps - 2, characters: 0 }))).toMatchObject({
      code: 'EXPRESSION_BUDGET',
    });
    expect(evaluationStepsMax).toBeGreaterThan(steps);
  });

  test('data nested deeper than the stack is a fault, not a crash', () => {
    expect(tryEvaluate('$deep === $deep', many)).toMatchObject({ ok: true, value: true });
    const result = tryEvaluate('"" + $deep', scopeOf({ deep: deepValue(200_000) }));
    expect(result.ok ? 'VALUE_TOO_LARGE' : result.code).toBe('VALUE_TOO_LARGE');
  });
});

function deepValue(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

test('an own property named __proto__ in data is not read and does not spread', () => {
  const scope = scopeOf({ evil: JSON.parse('{"__proto__": {"polluted": true}, "a": 1}') as Json });
  expect(tryEvaluate('$evil["__proto__"]', scope)).toEqual({ ok: true, value: undefined });
  const spread = tryEvaluate('{...$evil}', scope);
  expect(spread).toEqual({ ok: true, value: { a: 1 } });
  expect(tryEvaluate('Object.keys($evil)', scope)).toEqual({ ok: true, value: ['a'] });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('names the variables that an expression reads', () => {
  const parsed = parseExpression('$plan.files.filter(f => f.ok && f.n > limit).length > {{steps.0.n}} + $a[b].c');
  expect(parsed.ok && referencesOf(parsed.expression)).toEqual([
    { name: 'plan', path: ['files'] },
    { name: 'limit', path: [] },
    { name: 'steps', path: ['0', 'n'], braced: true },
    { name: 'a', path: [] },
    { name: 'b', path: [] },
  ]);
});
