/** Which values are pictures, and what stands in a text for one. */
import { expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { picturesOf, withoutPictures, type FoundPicture } from '../../../language/models/pictures.ts';

const png = `iVBORw0KGgo${'A'.repeat(80)}`;
const jpeg = `/9j/${'B'.repeat(80)}==`;
const picture = { mediaType: 'image/png', data: png };

test.each<[string, Json, FoundPicture[]]>([
  ['bytes', png, [picture]],
  ['bytes on several lines', `${png.slice(0, 40)}\n${png.slice(40)}\n`, [picture]],
  ['a JPEG', jpeg, [{ mediaType: 'image/jpeg', data: jpeg }]],
  [
    'an address that holds them',
    `data:image/webp;base64,${'C'.repeat(80)}`,
    [{ mediaType: 'image/webp', data: 'C'.repeat(80) }],
  ],
  ['a result with its bytes', { path: 'a.png', content: png, bytes: 70 }, [picture]],
  ['a screenshot', { url: 'http://x', image: png }, [picture]],
  ['a result with a path', { path: 'shots/a.PNG' }, ['shots/a.PNG']],
  ['a text that may be a path', 'shots/a b.jpeg', [{ mention: 'shots/a b.jpeg' }]],
  ['a list of them', ['a.png', { path: 'b.gif' }], [{ mention: 'a.png' }, 'b.gif']],
  ['a list with something else', ['a.png', 'b.ts'], []],
  ['an empty list', [], []],
  ['a result with another path', { path: 'a.ts' }, []],
  ['an address elsewhere', 'https://example.com/a.png', []],
  ['prose that ends like one', 'look at\na.png', []],
  ['text', 'iVBORw0KGgo is how a PNG begins, and this goes on for more than sixty-four characters', []],
  ['few bytes', 'iVBORw0KGgo', []],
  ['null', null, []],
])('%s', (_what, value, found) => {
  expect(picturesOf(value)).toEqual(found);
});

test('bytes anywhere in a value are words, and everything else stays', () => {
  const found: Json[] = [];
  const value = { shots: [{ data: png, at: 1 }, jpeg], path: 'a.png', text: 'x' };
  const told = withoutPictures(value, (one) => found.push({ ...one }));
  expect(told).toEqual({ shots: [{ data: '[image]', at: 1 }, '[image]'], path: 'a.png', text: 'x' });
  expect(found).toEqual([picture, { mediaType: 'image/jpeg', data: jpeg }]);
});
