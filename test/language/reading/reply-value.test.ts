/** What the text of a model stands for. */
import { expect, test } from 'vitest';
import { replyValue } from '../../../language/models/reply-value.ts';

test.each<[string, string, unknown]>([
  ['an object', '{"a": 1}', { a: 1 }],
  ['with space around', '\n [1, 2] \n', [1, 2]],
  ['a number', '42', 42],
  ['a fence', '```json\n{"a": 1}\n```', { a: 1 }],
  ['a fence without a word', '```\n[1]\n```', [1]],
  ['a fence after prose', 'Here it is:\n\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
  ['the one of several fences that is JSON', '```ts\nconst a = 1;\n```\n```json\n{"a": 1}\n```', { a: 1 }],
  ['lines of Windows', '```json\r\n{"a": 1}\r\n```', { a: 1 }],
])('%s is a value', (_form, text, value) => {
  expect(replyValue(text)).toEqual(value);
});

test.each([
  ['prose', 'The answer is {"a": 1}.'],
  ['nothing', ''],
  ['broken JSON', '{"a": 1'],
  ['a fence of another language', '```ts\n{"a": 1}\n```'],
  ['two fences of JSON', '```json\n1\n```\n```json\n2\n```'],
  ['a broken fence', '```json\n{"a": \n```'],
])('%s stays text', (_form, text) => {
  expect(replyValue(text)).toBe(text);
});
