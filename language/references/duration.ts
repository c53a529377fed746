/** Lengths of time, as they are written wherever one is taken. */
const LENGTHS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const NUMBER = /^\d+(?:\.\d+)?$/;

const PART =
  /(\d+(?:\.\d+)?)\s*(ms|[smhdw])(?:ecs?|econds?|ins?|inutes?|ours?|rs?|ays?|eeks?|illis|illiseconds?)?(?![a-z])\s*/iy;

/** Examples, for whoever wrote something else. */
export const DURATION_WORDS = 'milliseconds (30000) or a time with its unit (30s, 5m, 1h30m)';

/** Milliseconds: of a number of them, and of a time with its unit. */
export function durationIn(written: string): number | undefined {
  const text = written.trim();
  return NUMBER.test(text) ? Number(text) : lengthIn(text);
}

/** Milliseconds of `90s`, `1h30m`, `5 minutes`, and as ISO 8601 writes it: `PT5M`. */
export function lengthIn(written: string): number | undefined {
  const text = /^P(?:\d+[DW])*(?:T(?:\d+(?:\.\d+)?[HMS])+)?$/i.test(written)
    ? written.replaceAll(/[PT]/gi, '')
    : written;
  let sum = 0;
  PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = PART.lastIndex) {
    const [, amount, unit = ''] = PART.exec(text) ?? [];
    const length = LENGTHS[unit.toLowerCase()];
    if (length === undefined) return undefined;
    sum += Number(amount) * length;
  }
  return text === '' ? undefined : Math.round(sum);
}
