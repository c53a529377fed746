/** How much of what is known a window has room for. */
import { expect, test } from 'vitest';
import { fitContext, fitParts, roomFor } from '../../../world/models/request/fit-context.ts';

const part = (name: string, tokens: number) => ({ name, text: 'word'.repeat(tokens) });

test.each([
  ['half of a small window is the answer’s', { window: 4096, sent: 0, maxTokens: undefined, hasTools: false }, 1536],
  ['an answer that is bounded leaves more', { window: 4096, sent: 0, maxTokens: 96, hasTools: false }, 3000],
  [
    'an answer larger than the window leaves half of it',
    { window: 4096, sent: 0, maxTokens: 9000, hasTools: false },
    1536,
  ],
  ['a conversation with tools will grow', { window: 4096, sent: 0, maxTokens: 96, hasTools: true }, 1500],
  ['what is said already takes its part', { window: 4096, sent: 2000, maxTokens: 96, hasTools: false }, 1500],
  ['a prompt that fills the window leaves nothing', { window: 4096, sent: 5000, maxTokens: 96, hasTools: false }, 0],
  ['a large window is not filled', { window: 1_000_000, sent: 0, maxTokens: 96, hasTools: false }, 24_000],
  [
    'a window that nobody says is a usual one',
    { window: null, sent: 0, maxTokens: undefined, hasTools: false },
    18_432,
  ],
])('%s', (_what, room, tokens) => {
  expect(roomFor(room)).toBe(tokens);
});

test('variables come first and leave half of the room to sources, which get what is left', () => {
  const fitted = fitContext(
    { variables: [part('a', 300), part('b', 900)], sources: [part('c', 300), part('d', 900)] },
    1000,
  );
  expect(fitted.put).toEqual([
    { name: 'a', tokens: 312 },
    { name: 'b', tokens: 188, cut: true },
    { name: 'c', tokens: 312 },
    { name: 'd', tokens: 188, cut: true },
  ]);
  expect(fitted.leftOut).toEqual([]);
  expect(fitted.tokens).toBe(1000);
});

test('a part that would be cut to nothing is left out, and smaller ones behind it are not', () => {
  const fitted = fitParts([part('a', 900), part('b', 500), part('c', 10)], 1000);
  expect(fitted.put.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(fitted.leftOut).toEqual([
    { name: 'b', why: 'it has about 512 tokens, and 88 are left of the 1000 that there is room for' },
  ]);
});

test.each([0, 1, 50, 99, 100, 150, 1000, 5000])('in a room of %i tokens no more is put than it holds', (room) => {
  for (const sizes of [[1], [99, 101], [5000], [10, 20, 3000, 40], []]) {
    const fitted = fitParts(
      sizes.map((size, index) => part(`${index}`, size)),
      room,
    );
    expect(fitted.tokens).toBeLessThanOrEqual(room);
    expect(fitted.parts.reduce((sum, { text }) => sum + text.length / 4, 0)).toBeLessThanOrEqual(room);
    expect(fitted.put.length + fitted.leftOut.length).toBe(sizes.length);
  }
});
