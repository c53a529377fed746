/** What a terminal shows of the steps under way. */
import { expect, test } from 'vitest';
import { underWayText } from '../../../cli/following/run-view.ts';

test.each([
  [[], 'running'],
  [[{ label: 'npm  test', since: 9_500 }], 'npm test'],
  [[{ label: 'of a clock ahead', since: 99_000 }], 'of a clock ahead'],
  [
    [
      { label: 'build', since: 7_900 },
      { label: 'lint', since: 9_999 },
    ],
    'build 2.0 s · lint',
  ],
])('%j', (steps, text) => {
  expect(underWayText(steps, 10_000)).toBe(text);
});
