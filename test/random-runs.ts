/**
 * How many random cases a test takes. In `npm test` they are few and the same every time, so that a failure is
 * about the change; the project `random` (`npm run soak`) takes all of them, and others every time. What
 * fast-check prints of a failure has the seed that makes it.
 */
export const isSoak = process.env['SENTINEL_SOAK'] === '1';

const seed = 7;

/** Parameters of a property: `all` of them in a soak, else `few`. */
export function randomRuns(all: number, few: number = Math.ceil(all / 10)): { numRuns: number; seed?: number } {
  return isSoak ? { numRuns: all } : { numRuns: few, seed };
}
