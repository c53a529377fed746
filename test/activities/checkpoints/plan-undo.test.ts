/** What becomes of each file, from what the steps did to it. */
import { expect, test } from 'vitest';
import { planUndo, type Stretch } from '../../../operations/checkpoints/plan-undo.ts';
import type { FileState } from '../../../world/git/trees/tree-diffs.ts';

const at = (blob: string | null): FileState => (blob === null ? null : { mode: '100644', blob });

let clock = 0;
/** One step after the other; `f` from the first content to the second. */
function step(
  name: string,
  changes: Readonly<Record<string, readonly [string | null, string | null]>>,
  rest: Partial<Stretch> = {},
): Stretch {
  clock += 10;
  return {
    name,
    from: clock,
    to: clock + 5,
    isUnsure: false,
    unseen: null,
    changes: Object.entries(changes).map(([path, [before, after]]) => ({ path, before: at(before), after: at(after) })),
    moves: [],
    changesIgnored: false,
    large: new Set(),
    ...rest,
  };
}

const planned = (stretches: readonly Stretch[]) =>
  planUndo(stretches).files.map(({ path, target, expected, doubt }) => [
    path,
    target?.blob ?? null,
    expected?.blob ?? null,
    doubt,
  ]);

test('the first state before, and the last after', () => {
  expect(planned([step('one', { f: ['a', 'b'], g: [null, 'x'] }), step('two', { f: ['b', 'c'] })])).toEqual([
    ['f', 'a', 'c', null],
    ['g', null, 'x', null],
  ]);
});

test('what a later step put back itself is left alone', () => {
  expect(planned([step('one', { f: ['a', 'b'] }), step('undo-1', { f: ['b', 'a'] })])).toEqual([]);
});

test("a change between two steps is somebody else's", () => {
  expect(planned([step('one', { f: ['a', 'b'] }), step('two', { f: ['p', 'c'] })])).toEqual([
    ['f', 'a', 'c', 'somebody else changed it before two'],
  ]);
});

test('what changed beside a background process is doubted, but for what steps account for', () => {
  const server = step('server', { f: ['a', 'b'], g: ['x', 'y'] }, { isUnsure: true, to: 1_000 });
  expect(planned([server, step('one', { f: ['a', 'b'] })])).toEqual([
    ['f', 'a', 'b', null],
    ['g', 'x', 'y', "it changed while server ran in the background, which may be its work or somebody else's"],
  ]);
});

test('a process that went on after the steps doubts what they left', () => {
  const server = step('server', { f: ['a', 'c'] }, { isUnsure: true, to: 1_000_000 });
  expect(planned([server, step('one', { f: ['a', 'b'] })])).toMatchObject([
    ['f', 'a', 'c', expect.stringContaining('background')],
  ]);
});

test('a step whose end nobody saw is doubted', () => {
  expect(planned([step('one', { f: ['a', 'b'] }, { isUnsure: true, to: null })])).toMatchObject([
    ['f', 'a', 'b', expect.stringContaining('nobody saw one end')],
  ]);
});

test('a file that came into sight when .gitignore changed may have been there', () => {
  expect(planned([step('one', { f: [null, 'b'], g: ['a', 'b'] }, { changesIgnored: true })])).toMatchObject([
    ['f', null, 'b', expect.stringContaining('.gitignore')],
    ['g', 'a', 'b', null],
  ]);
});

test('what was too large to keep is named, and not planned', () => {
  expect(planUndo([step('one', { f: ['a', null] }, { large: new Set(['f']) })])).toEqual({ files: [], large: ['f'] });
});
