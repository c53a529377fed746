/** The functions of `Math` that are computed here agree with the engine's to 14 digits. */
import { expect, test } from 'vitest';
import * as math from '../../../language/expression/math.ts';

const numbers = [
  0,
  1e-300,
  1e-10,
  0.1,
  0.3,
  0.5,
  0.9999,
  1,
  1.5,
  2,
  Math.E,
  3,
  Math.PI,
  7.25,
  10,
  100,
  709,
  1000,
  12345.678,
  1e15,
  1e300,
];
const signed = [...numbers, ...numbers.map((x) => -x), Infinity, -Infinity, Number.NaN];

/** Angles are reduced exactly only so far; beyond, the engine and we both lose digits. */
const isAngle = (x: number): boolean => Math.abs(x) < 1e5;

type Calls = { [name in Exclude<keyof typeof math, 'pow' | 'atan2' | 'hypot'>]: (x: number) => number };
const calls: Calls = math;
type Named = keyof Calls;
const all = Object.keys(math).filter((name): name is Named => !['pow', 'atan2', 'hypot'].includes(name));

const agree = (ours: number, theirs: number): boolean =>
  Object.is(ours, theirs) ||
  ours === theirs ||
  Math.abs(ours - theirs) <= 1e-14 * Math.max(Math.abs(theirs), 1e-2) ||
  Math.abs(ours - theirs) < 2e-14 * Math.abs(theirs);

test.each(all)('%s', (name) => {
  const inputs = ['sin', 'cos', 'tan'].includes(name) ? signed.filter(isAngle) : signed;
  const differing = inputs
    .filter((x) => !agree(calls[name](x), Math[name](x)))
    .map((x) => ({ x, ours: calls[name](x), theirs: Math[name](x) }));
  expect(differing).toEqual([]);
});

test('pow, hypot and atan2', () => {
  const exponents = [-2, -0.5, 0, 0.5, 1, 1.5, 3, 10, -10, 0.1];
  const bases = [0, 0.5, 1, 2, 10, 123.4, -2, -0.5];
  const differing = bases.flatMap((x) =>
    exponents
      .filter((y) => !agree(math.pow(x, y), Math.pow(x, y)))
      .map((y) => ({ x, y, ours: math.pow(x, y), theirs: Math.pow(x, y) })),
  );
  expect(differing).toEqual([]);
  expect(math.hypot(3, 4)).toBe(5);
  expect(math.hypot()).toBe(0);
  for (const [y, x] of [
    [1, 1],
    [1, -1],
    [-1, -1],
    [-1, 1],
    [0, 1],
    [1, 0],
    [-1, 0],
  ] as const)
    expect(math.atan2(y, x)).toBeCloseTo(Math.atan2(y, x), 13);
});
