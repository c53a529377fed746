/** What JSON cannot say is refused with its field, wherever code hands values over. */
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { faultOfValues, valueFault } from '../../language/json.ts';
import { notPlain, notPlainWords } from '../../language/plain-json.ts';

class Order {
  id = 1;
}

const circle: Record<string, unknown> = { a: [] };
circle['a'] = [{ back: circle }];

test.each<[string, unknown, string]>([
  ['NaN', { a: [1, { b: Number.NaN }] }, 'the result: "a.1.b" is NaN, which JSON cannot say; hand over null'],
  ['infinity', Number.NEGATIVE_INFINITY, 'the result is -Infinity, which'],
  ['a map', { of: new Map([['a', 1]]) }, '"of" is a Map, which JSON cannot say; hand over Object.fromEntries(map)'],
  ['a set', { of: new Set([1]) }, '"of" is a Set, which JSON cannot say; hand over [...set]'],
  ['a function', { call: () => 1 }, '"call" is a function'],
  ['a symbol', [Symbol('s')], '"0" is a symbol'],
  ['undefined in a list', { list: [1, undefined] }, '"list.1" is undefined in a list'],
  ['a hole in a list', { list: Object.assign([1], { 2: 3 }) }, '"list.1" is undefined in a list'],
  ['a circle', circle, '"a.0.back" is a value that holds itself'],
  [
    'a big integer',
    { id: 12345678901234567890n },
    '"id" is the big integer 12345678901234567890, which JSON cannot say; hand it over as text',
  ],
  [
    'an instance',
    { order: new Order() },
    '"order" is an Order, which JSON cannot say; hand over its fields: {...value}',
  ],
  ['an error', { error: new TypeError('x') }, '"error" is an Error'],
  ['a promise', { later: Promise.resolve(1) }, '"later" is a Promise, which JSON cannot say; await it'],
  ['bytes', { bytes: new Uint8Array(2) }, '"bytes" is an Uint8Array'],
  ['no date', { at: new Date(Number.NaN) }, '"at" is a date that does not exist'],
  [
    'no date of another name',
    { at: new (class Day extends Date {})(Number.NaN) },
    '"at" is a date that does not exist',
  ],
  ['a map of another name', { all: new (class Index extends Map {})() }, 'hand over Object.fromEntries(map)'],
])('%s', (_what, value, words) => {
  expect(notPlainWords(value, 'the result')).toContain(words);
  expect(valueFault(value, 'the result')).toMatchObject({
    code: 'VALUE_NOT_JSON',
    message: expect.stringContaining(words),
  });
});

test('what JSON can say passes, as do values that say themselves what they are', () => {
  const shared = { a: 1 };
  const foreign = runInNewContext('({ a: [1, { b: null }] })') as unknown;
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  const values = [
    null,
    undefined,
    1,
    'x',
    true,
    [],
    {},
    { gone: undefined },
    [shared, shared],
    foreign,
    bare,
    new Date(0),
    new URL('http://a.b'),
  ];
  for (const value of values) expect(notPlain(value)).toBeNull();
});

test('inputs are named, and one that is undefined is not given', () => {
  expect(faultOfValues({ a: 1, b: { c: Number.NaN } }, (name) => `the input "${name}"`)?.message).toContain(
    'the input "b": "c" is NaN',
  );
});

test('a value that grows with each reading of a part ends', () => {
  let value: unknown = 1;
  for (let level = 0; level < 60; level += 1) value = [value, value];
  expect(valueFault(value, 'it')?.code).toBe('VALUE_TOO_LARGE');
});
