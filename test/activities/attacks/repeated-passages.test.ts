/** Passages and files that repeat themselves: an edit takes one pass, and finds what an honest one means. */
import { expect, test } from 'vitest';
import { findPassage, nearestPassage } from '../../../systems/code/editing/passage.ts';
import { processorMs } from '../../elapsed.ts';

const like = (at: number): string => `${'x'.repeat(100)}${at}${'y'.repeat(90)}`;
const lines = (count: number): string => 'a\n'.repeat(count);

test.each([
  ['that nearly stands everywhere', lines(150_000), `${lines(75_000)}b`],
  [
    'that nearly stands everywhere, short enough to be looked for with other blanks',
    lines(500_000),
    `${lines(9_900)}b`,
  ],
  ['that differs in its middle', lines(300_000), `${lines(80_000)}b\n${lines(80_000)}`],
  ['that begins otherwise', lines(150_000), `b${lines(75_000)}`],
  ['of more words than an engine of patterns takes', `q\n${lines(15_000)}`, `q\n${lines(9_900)}b`],
  ['whose ends are those of another system', lines(150_000), `${'a\r\n'.repeat(50_000)}b`],
])('a passage %s is looked for within a moment', (_what, text, passage) => {
  expect(processorMs(() => expect(findPassage(text, passage)).toEqual([]))).toBeLessThan(2_000);
});

test('what is most like a passage is looked for among so many pairs of lines', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => like(at)).join('\n');
  const passage = Array.from({ length: 40 }, (_, at) => like(90_000 + at)).join('\n');
  expect(processorMs(() => expect(nearestPassage(text, passage)?.similarity).toBeGreaterThan(0.9))).toBeLessThan(4_000);
});

test.each([
  ['once', 'abcabd', 'abd', [[3, 6]]],
  [
    'again and again, without overlaps',
    'aaaaa',
    'aa',
    [
      [0, 2],
      [2, 4],
    ],
  ],
  ['behind a beginning of itself', 'aabaabaaab', 'aabaaa', [[3, 9]]],
  ['nowhere', 'abc', 'abcd', []],
  ['in characters of two units', '😀😁😀😁😂', '😀😁😂', [[4, 10]]],
])('a passage that stands %s is found', (_what, text, passage, places) => {
  expect(findPassage(text, passage).map(({ start, end }) => [start, end])).toEqual(places);
});

test('a long passage is found among lines like it, as written and with other blanks', () => {
  const passage = `${lines(5_000)}end`;
  const text = `${lines(20_000)}end\n${lines(10)}`;
  expect(findPassage(text, passage)).toEqual([{ start: 30_000, end: 40_003, isTolerant: false }]);
  const spaced = 'if (x) {\n  y();\n}\n'.repeat(300);
  const [found, ...others] = findPassage(`${spaced}if (x)   {\n    z();\n}\n`, 'if (x) {\n  z();\n}\n');
  expect([found?.isTolerant, others]).toEqual([true, []]);
});

test('a passage of 3,900 words is found with other blanks', () => {
  const passage = Array.from({ length: 3_900 }, (_, at) => `w${at % 90}`);
  const found = findPassage(`first\n${passage.join('   ')}\n`, passage.join('  '));
  expect(found).toMatchObject([{ start: 6, isTolerant: true }]);
});
