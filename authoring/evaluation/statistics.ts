/** What can be said of a rate that was seen in few cases, and of times. */

export interface Interval {
  low: number;
  high: number;
}

/** Of 95 %. */
const Z = 1.959964;

/** Wilson's score interval: it holds for few cases too, and never leaves 0 to 1. */
export function wilson(passed: number, cases: number): Interval {
  if (cases === 0) return { low: 0, high: 1 };
  const rate = passed / cases;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / cases + Z ** 2 / (4 * cases ** 2));
  const middle = rate + Z ** 2 / (2 * cases);
  const whole = 1 + Z ** 2 / cases;
  return {
    low: passed === 0 ? 0 : Math.max(0, (middle - spread) / whole),
    high: passed === cases ? 1 : Math.min(1, (middle + spread) / whole),
  };
}

/** The smallest value that this share of the values does not pass. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
