/** Patterns of event names, case by case: test/cases/event-globs/names.json. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eventMatcher, eventPrefix, eventRegex, matchesEvent } from '../../../language/events/event-glob.ts';
import { processorMs } from '../../elapsed.ts';

interface GlobCase {
  pattern: string;
  matches: string[];
  refuses: string[];
}

const cases = JSON.parse(
  readFileSync(new URL('../../cases/event-globs/names.json', import.meta.url), 'utf8'),
) as GlobCase[];

describe.each(cases)('$pattern', ({ pattern, matches, refuses }) => {
  test.each([
    ...matches.map((name) => ({ name, expected: true })),
    ...refuses.map((name) => ({ name, expected: false })),
  ])('"$name": $expected', ({ name, expected }) => {
    expect(matchesEvent(pattern, name)).toBe(expected);
    expect(eventMatcher(pattern)(name)).toBe(expected);
    expect(new RegExp(eventRegex(pattern), 'us').test(name)).toBe(expected);
    if (expected) expect(name.startsWith(eventPrefix(pattern))).toBe(true);
  });
});

test('a pattern of many stars takes no longer than its length', () => {
  const spent = processorMs(() => {
    expect(matchesEvent(`${'*a'.repeat(200)}b`, 'a'.repeat(500))).toBe(false);
    expect(matchesEvent(`${'**a'.repeat(200)}b`, 'a'.repeat(500))).toBe(false);
  });
  expect(spent).toBeLessThan(1000);
});
