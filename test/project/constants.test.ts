/** A number that somebody may want to change stands once, under one name. */
import { expect, test } from 'vitest';
import { codeOf, files, isSource } from './tree.ts';

/** What they stand for never changes. */
const UNITS = new Set(['comma', 'dayms', 'kib', 'minute', 'minutems', 'quote', 'secondms', 'hourms']);

interface Constant {
  path: string;
  name: string;
  value: number;
  isExported: boolean;
}

const constants = files
  .filter((path) => isSource(path) && /^(?!test|bench|scripts|docs|examples)[a-z]+\//.test(path))
  .flatMap((path) =>
    Array.from(
      codeOf(path).matchAll(/^(export )?const (\w+)(?:: number)? = (\d[\d_.]*(?: \* \d[\d_.]*)*);/gm),
      ([, exported, name = '', product = '']): Constant => ({
        path,
        name: name.replaceAll('_', '').toLowerCase(),
        value: product.split('*').reduce((value, factor) => value * Number(factor.trim().replaceAll('_', '')), 1),
        isExported: exported !== undefined,
      }),
    ),
  )
  .filter(({ name }) => !UNITS.has(name));

test('a number that is exported under a name stands nowhere else under it', () => {
  const exported = constants.filter(({ isExported }) => isExported);
  expect(exported.length).toBeGreaterThan(100);
  const twice = exported.flatMap(({ path, name, value }) =>
    constants
      .filter((other) => other.path !== path && other.name === name && other.value === value)
      .map((other) => `${name} is ${value} in ${path} and in ${other.path}`),
  );
  expect(twice).toEqual([]);
});

test('ports on which services of ours listen stand in one file', () => {
  const ports = files
    .filter((path) => isSource(path) && /^(?:services|world|worker|client|cli|runs|operations)\//.test(path))
    .filter((path) => /(?<!:)\b(?:7_?233|7_?246|5_?432|8_?233)\b/.test(codeOf(path)));
  expect(ports).toEqual(['services/config/ports.ts']);
});
