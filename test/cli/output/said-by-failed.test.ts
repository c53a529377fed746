import { expect, test } from 'vitest';
import { cutLine } from '../../../cli/following/watch-run.ts';

test.each([
  ['', ''],
  ['one line', 'one line'],
  ['x'.repeat(2000), 'x'.repeat(2000)],
  [`begin${'x'.repeat(20_000_000)}end`, `begin${'x'.repeat(995)} [… 19998008 characters …] ${'x'.repeat(997)}end`],
])('what a failed step printed is quoted up to 2,000 characters a line', (line, quoted) => {
  expect(cutLine(line)).toBe(quoted);
});

test('no half of a character is left', () => {
  expect(cutLine('😀'.repeat(3000).slice(1))).not.toMatch(/\p{Surrogate}/u);
});
