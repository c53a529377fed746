/**
 * The builder knows commands and what they take: the compiler refuses what is not so (`npm run types` reads this file),
 * and `build` refuses it in programs that no compiler has read.
 */
import { describe, expect, test } from 'vitest';
import { BuildError, sentinel } from '../../../authoring/builder/sentinel-builder.ts';

declare module '../../../authoring/builder/sentinel-builder.ts' {
  interface Commands {
    'tracker/ticket': { id: string; fields?: ('title' | 'text')[] };
  }
}

const base = sentinel('x').input('count', 3).input('path', 'a').input('kinds', ['title']);

const said = (builder: { build: () => unknown }): string => {
  try {
    builder.build();
    return 'nothing';
  } catch (error) {
    return error instanceof BuildError ? error.message : String(error);
  }
};

describe('what is right is accepted', () => {
  test('values, references in place of any of them, and text around references', () => {
    const built = base
      .command('a', 'code/read', { path: 'a', encoding: 'utf8' })
      .command('b', 'code/read', (ref) => ({ path: `${ref('path')}/b`, encoding: ref('a.output') }))
      .command('c', 'data/list', (ref) => ({ collection: 'c', limit: ref('count'), filter: { id: ref('path') } }))
      .command('d', 'code/git', (ref) => ({ operation: 'log', format: `of ${ref('path')}`, count: 2 }))
      .command('e', 'code/verify', (ref) => ({ checks: [ref('path'), 'vitest'], fullTest: `{{${ref('count')} > 2}}` }))
      .command('f', 'health-check')
      .command('g', 'code/tree', {}, { timeoutMs: 5000 })
      .build();
    expect(built.steps.slice(1, 3)).toEqual([
      { type: 'command', command: 'code/read', params: { path: '$path/b', encoding: '$a.output' }, outputTo: 'b' },
      {
        type: 'command',
        command: 'data/list',
        params: { collection: 'c', limit: '$count', filter: { id: '$path' } },
        outputTo: 'c',
      },
    ]);
    expect(built.steps.slice(5)).toEqual([
      { type: 'command', command: 'health-check', params: {}, outputTo: 'f' },
      { type: 'command', command: 'code/tree', params: {}, timeoutMs: 5000, outputTo: 'g' },
    ]);
  });

  test('commands of a project, which are declared, and named to build', () => {
    const own = base.command('t', 'tracker/ticket', (ref) => ({ id: ref('path'), fields: ['title'] }));
    expect(own.build({ commands: ['tracker/ticket'] }).steps).toHaveLength(1);
    expect(own.build({ commands: [{ name: 'tracker/ticket' }] }).steps).toHaveLength(1);
    expect(said(own)).toContain('"tracker/ticket"');
  });
});

describe('what is wrong is refused by the compiler, and when it is built', () => {
  test('a command that there is not, with the nearest', () => {
    // @ts-expect-error no such command
    const builder = base.command(null, 'code/raed', { path: 'a' });
    expect(said(builder)).toMatch(/"code\/raed".*code\/read/);
  });

  test('a parameter that is missing', () => {
    // @ts-expect-error without the path
    expect(said(base.command(null, 'code/read'))).toContain('the parameter "path" is needed');
    // @ts-expect-error without the path
    expect(said(base.command(null, 'code/read', { encoding: 'utf8' }))).toContain('the parameter "path" is needed');
    // @ts-expect-error without the id
    base.command(null, 'tracker/ticket', {});
  });

  test('a parameter that is not taken', () => {
    // @ts-expect-error misspelt
    expect(said(base.command(null, 'code/read', { path: 'a', encodng: 'utf8' }))).toContain('"encodng" is not taken');
    // @ts-expect-error misspelt
    const made = base.command(null, 'code/read', (ref) => ({ path: ref('path'), encodng: 'utf8' }));
    expect(said(made)).toContain('"encodng" is not taken');
  });

  test('a value of another type', () => {
    // @ts-expect-error a number
    expect(said(base.command(null, 'code/read', { path: 5 }))).toContain('steps.0.params.path');
    // @ts-expect-error none of the encodings
    expect(said(base.command(null, 'code/read', { path: 'a', encoding: 'utf-8' }))).toContain(
      'steps.0.params.encoding',
    );
    // @ts-expect-error text without a reference
    expect(said(base.command(null, 'data/list', { collection: 'c', limit: 'ten' }))).toContain('steps.0.params.limit');
    // @ts-expect-error none of the fields
    base.command(null, 'tracker/ticket', { id: 'a', fields: ['tilte'] });
  });
});
