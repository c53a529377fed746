/** Templates, case by case: test/cases/interpolation/*.json states template and result. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canonicalText } from '../../../language/canonical.ts';
import { interpolateText, interpolateValue } from '../../../language/references/interpolation.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { interpolationLengthMax, stringLengthMax, valueDepthMax } from '../../../language/limits.ts';
import { scopeOf } from '../../../language/expression/scope.ts';
import { processorMs } from '../../elapsed.ts';

interface Suite {
  scope: JsonObject;
  textFields: { [name: string]: string };
  cases: Array<{ template: Json; value: Json; unresolved?: string[]; faults?: string[] }>;
}

const folder = new URL('../../cases/interpolation/', import.meta.url);

describe.each(readdirSync(folder))('%s', (file) => {
  const suite = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Suite;
  const scope = { ...scopeOf(suite.scope), textField: (name: string) => suite.textFields[name] };
  test.each(suite.cases)('$template', ({ template, value, unresolved = [], faults = [] }) => {
    const result = interpolateValue(template, scope);
    expect(result.value).toEqual(value);
    expect(result.unresolved).toEqual(unresolved);
    expect(result.faults.map((fault) => fault.code)).toEqual(faults);
  });
});

test('text stays text where a text is wanted', () => {
  expect(interpolateText('$a', scopeOf({ a: { b: 1 } }))).toEqual({ text: '{"b":1}', unresolved: [], faults: [] });
  expect(interpolateText('{"a": "$a"}', scopeOf({ a: 'x' })).text).toBe('{"a": "x"}');
});

test('a template that grows beyond the bound is a fault', () => {
  const scope = scopeOf({ big: 'x'.repeat(interpolationLengthMax / 8) });
  expect(interpolateText(' $big'.repeat(8), scope).faults).toEqual([]);
  expect(interpolateText(' $big'.repeat(9), scope).faults.map((fault) => fault.code)).toEqual(['VALUE_TOO_LARGE']);
  expect(interpolateText(' $big'.repeat(20_000), scope).faults).toHaveLength(1);
});

const nested = (levels: number): Json => Array.from({ length: levels }).reduce<Json>((inner) => [inner], 'core');

test('a value that is nested too deeply to be written down is a fault, and text that holds one is no JSON', () => {
  const scope = scopeOf({
    deep: nested(valueDepthMax + 1),
    much: nested(50_000),
    fine: nested(valueDepthMax),
    written: `[${'['.repeat(valueDepthMax)}${']'.repeat(valueDepthMax)}]`,
    quoted: JSON.stringify({ a: '['.repeat(5000) }),
  });
  for (const template of ['$deep', '{{deep}}', 'with $much', 'with {{much}}', '{{JSON.stringify($much)}}']) {
    expect({ template, codes: interpolateValue(template, scope).faults.map((fault) => fault.code) }).toEqual({
      template,
      codes: ['VALUE_TOO_LARGE'],
    });
  }
  expect(interpolateValue('$fine', scope).faults).toEqual([]);
  expect(interpolateValue('{{JSON.parse($written)}}', scope).faults.map((fault) => fault.code)).toEqual([
    'EXPRESSION_TYPE',
  ]);
  expect(interpolateValue('{{quoted.a.length}}', scope).value).toBe(5000);
});

const textOfLength = (length: number, of = 'x'): string => JSON.stringify({ a: of.repeat(length - 16), b: [1] });

test('reading JSON text in a template is bounded', () => {
  const four = '$json.b $json.b $json.b $json.b';
  expect(interpolateText(four, scopeOf({ json: textOfLength(100) }))).toEqual({
    text: '[1] [1] [1] [1]',
    unresolved: [],
    faults: [],
  });
  const longest = textOfLength(stringLengthMax);
  // The same text is read and paid for once, however it is referred to.
  expect(interpolateText(`${four} {{json.b}} {{json.b[0] + json.b.length}}`, scopeOf({ json: longest }))).toMatchObject(
    { text: '[1] [1] [1] [1] [1] 2', faults: [] },
  );
  const others = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, textOfLength(stringLengthMax, name)]));
  expect(interpolateText('$a.b $b.b $c.b $d.b', scopeOf(others)).faults).toMatchObject([
    { code: 'EXPRESSION_BUDGET', message: expect.stringMatching(/^\.b: /) },
  ]);
  expect(interpolateText('$json.b', scopeOf({ json: textOfLength(stringLengthMax + 1) })).text).toHaveLength(
    stringLengthMax + '.b'.length + 1,
  );
});

test('a long template of half references ends quickly', () => {
  const spent = processorMs(() => {
    interpolateText('$a.at($a.at('.repeat(40_000), scopeOf({ a: 'x' }));
    interpolateText('$a.replace('.repeat(40_000), scopeOf({ a: 'x' }));
    interpolateText('${a '.repeat(60_000), scopeOf({ a: 'x' }));
    interpolateText('{{a {'.repeat(60_000), scopeOf({ a: 'x' }));
  });
  expect(spent).toBeLessThan(5_000);
});

test('canonical text sorts keys at every depth and survives deep values', () => {
  expect(canonicalText({ b: [{ d: 1, c: null }], a: 'x"' })).toBe('{"a":"x\\"","b":[{"c":null,"d":1}]}');
  let deep: Json = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(canonicalText(deep)).toHaveLength(200_001);
});
