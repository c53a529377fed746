/** Tokens of secrets in texts of others: found wherever they stand, in one pass. */
import { expect, test } from 'vitest';
import { isToken, withoutTokens } from '../../../language/secrets.ts';
import { processorMs } from '../../elapsed.ts';

const token = (name: string, digit = 'a'): string => `sealed_${name}_${digit.repeat(32)}`;

test.each([
  ['beginnings without an end', 'sealed_'.repeat(30_000)],
  ['ends without a beginning', `sealed_x${`_${'a'.repeat(31)}`.repeat(6_000)}`],
  ['beginnings in words of their own', 'sealed_x '.repeat(20_000)],
])('200 kB of %s take a moment', (_what, text) => {
  expect(processorMs(() => expect(withoutTokens(text)).toBe(text))).toBeLessThan(500);
  expect(processorMs(() => expect(isToken(text)).toBe(false))).toBeLessThan(500);
});

test.each([
  [token('KEY'), '[env KEY]'],
  [`a ${token('KEY')}, b`, 'a [env KEY], b'],
  [`glued${token('MY_KEY')}to this`, 'glued[env MY_KEY]to this'],
  [token('ONE') + token('TWO', '9'), '[env ONE][env TWO]'],
  [`sealed_${token('KEY')}`, '[env sealed_KEY]'],
  [token('KEY').slice(0, -1), token('KEY').slice(0, -1)],
  [`sealed__${'a'.repeat(32)}`, `sealed__${'a'.repeat(32)}`],
])('%s is shown as %s', (text, shown) => {
  expect(withoutTokens(text)).toBe(shown);
});

test('a token, and several without anything between them, are tokens; nothing else is', () => {
  expect([token('KEY'), token('ONE') + token('TWO'), '', 'KEY', `${token('KEY')} `].map(isToken)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
