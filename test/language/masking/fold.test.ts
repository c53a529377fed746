/** What is decoded of a text ends where the text does, whatever stands behind it in the same bytes. */
import { expect, test } from 'vitest';
import { fold } from '../../../language/masking/fold.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['a character without width', 'ab\u200B', 3],
  ['a character without width, with one byte more', 'ab\u200B', 4],
  ['a hyphen that is not shown', 'ab\u00AD', 3],
  ['an escape of JSON', 'ab\\u0061', 7],
  ['an escape of an address', 'ab%61', 4],
  ['an entity', 'ab&amp;', 6],
  ['a control sequence', 'ab\u001B[31m', 6],
])('%s that the text breaks off in', (_what, text, length) => {
  const whole = bytes(text);
  const cut = fold(whole.subarray(0, length), length);
  const beside = fold(whole, length);
  expect(beside.brokenAt).toBe(2);
  const { bytes: left, length: count, brokenAt, isLayered } = beside;
  expect([left.subarray(0, count), brokenAt, isLayered]).toEqual([
    cut.bytes.subarray(0, cut.length),
    cut.brokenAt,
    cut.isLayered,
  ]);
});

test('what was decoded before makes nothing of what is decoded now', () => {
  fold(bytes('\\u00ad'), 6);
  const alone = fold(bytes('\\302'), 4);
  expect([alone.length, alone.bytes[0], alone.isLayered]).toEqual([1, 0xc2, false]);
});
