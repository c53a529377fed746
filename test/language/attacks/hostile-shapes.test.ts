/** Definitions that say a little, of which what is known of their values would grow without end: they are read all the same. */
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../language/problems.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { processorMs } from '../../elapsed.ts';
import { catalogue } from '../../catalogue.ts';

const WIDE = 200;
const DEEP = 12;
const wide = <Item>(item: (at: number) => Item): Item[] => Array.from({ length: WIDE }, (_, at) => item(at));
const fields = (value: unknown): object => Object.fromEntries(wide((at) => [`f${at}`, value]));
const levels = (prefix: string, value: (next: string) => unknown): object[] =>
  Array.from({ length: DEEP }, (_, level) => ({
    type: 'set',
    values: { [`${prefix}${level}`]: level === 0 ? fields(1) : value(`$${prefix}${level - 1}`) },
  }));
const last = DEEP - 1;
const read = (data: unknown): object => ({ type: 'emit', event: 'read', data });
const path = Array.from({ length: DEEP }, () => 'f1').join('.');

const schemaOfItself = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: fields({ $ref: '#/$defs/node' }) } },
};
const schemaOfLevels = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/n11' } },
  $defs: Object.fromEntries(
    Array.from({ length: DEEP }, (_, level) => [
      `n${level}`,
      level === 0 ? { type: 'number' } : { type: 'object', properties: fields({ $ref: `#/$defs/n${level - 1}` }) },
    ]),
  ),
};
const asks = (schema: object): object[] => [
  { type: 'llm', prompt: 'say', schema, outputTo: 'said' },
  read(wide((at) => `$said.root.f${at}.f1`)),
];
const nestedLists = Array.from({ length: DEEP }).reduce<object[]>(
  (steps) =>
    wide((at) => ({
      type: 'parallel',
      over: '[1]',
      as: 'item',
      steps: at === 0 ? steps : [{ type: 'shell', command: 'true' }],
      outputTo: `r${at}`,
    })),
  [{ type: 'shell', command: 'true', outputTo: 'r' }],
);

describe('read in a bounded time', () => {
  test.each<[string, object[]]>([
    ['objects of objects of objects', [...levels('a', (next) => fields(next)), read(`$a${last}.${path}`)]],
    ['lists of lists of lists', [...levels('a', (next) => wide(() => next)), read(`$a${last}[0][1]`)]],
    [
      'what one of two such values is',
      [
        ...levels('a', (next) => fields(next)),
        ...levels('b', (next) => fields(next)),
        { type: 'set', values: { c: `$a${last}` } },
        { type: 'set', values: { c: `$b${last}` } },
        read(`$c.${path}`),
      ],
    ],
    [
      'values that hold one another',
      [{ type: 'set', values: { a: fields('$b') } }, { type: 'set', values: { b: fields('$a') } }, read(`$a.${path}`)],
    ],
    ['a schema of itself', asks(schemaOfItself)],
    ['a schema of many levels', asks(schemaOfLevels)],
    ['lists in lists', [...nestedLists, read(wide((at) => `$r${at}[0].r0[0].r`))]],
    [
      'one variable after the other',
      [
        { type: 'set', values: { v0: { f: 1 } } },
        ...Array.from({ length: 900 }, (_, at) => ({ type: 'set', values: { [`v${at + 1}`]: `$v${at}` } })),
        read(Array.from({ length: 900 }, (_, at) => `$v${at}.f`)),
      ],
    ],
  ])('%s', (_what, steps) => {
    let problems: readonly Problem[] = [];
    const tookMs = processorMs(() => {
      ({ problems } = parseDefinition({ name: 'hostile', steps, loop: { type: 'once' } }, { catalogue }));
    });
    expect(tookMs).toBeLessThan(3_000);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
