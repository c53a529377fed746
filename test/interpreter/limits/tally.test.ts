/** What a nested run keeps of its passes is bounded, whatever they put out. */
import { expect, test } from 'vitest';
import { valueBytesMax } from '../../../language/limits.ts';
import { tallyPass } from '../../../interpreter/outcome.ts';
import { firstPosition } from '../../../interpreter/position.ts';

const MIB = 1024 * 1024;

test.each([
  { passes: 5, mib: 3, kept: [4, 5] },
  { passes: 3, mib: 9, kept: [] },
  { passes: 130, mib: 0, kept: Array.from({ length: 100 }, (_, index) => index + 31) },
])('of $passes passes with $mib MiB each the newest are kept', ({ passes, mib, kept }) => {
  const { tally } = firstPosition(0);
  for (let pass = 1; pass <= passes; pass += 1) {
    tally.touched = ['pass', 'text'];
    tallyPass(tally, { pass, text: 'x'.repeat(mib * MIB) }, true);
  }
  expect(tally.results.map((result) => result['pass'])).toEqual(kept);
  expect(JSON.stringify(tally.results).length).toBeLessThan(valueBytesMax + MIB);
  expect(tally.numbers['pass']).toEqual({ sum: (passes * (passes + 1)) / 2, count: passes });
});
