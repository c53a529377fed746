/** What a model reads of a result: each text once. */
import { expect, test } from 'vitest';
import { toldText } from '../../../activities/turns/call-result.ts';
import type { JsonObject } from '../../../language/json.ts';

const shell = (stdout: string, stderr: string, exitCode = 0): JsonObject => ({
  exitCode,
  exit_code: exitCode,
  stdout,
  stderr,
  output: `${stdout}${stderr}`,
  durationMs: 7,
  success: exitCode === 0,
});

test.each<[string, JsonObject, JsonObject]>([
  ['that says something', shell('a', ''), { exitCode: 0, stdout: 'a', durationMs: 7 }],
  ['that fails', shell('a', 'b', 2), { exitCode: 2, stdout: 'a', stderr: 'b', durationMs: 7 }],
  ['that says nothing', shell('', ''), { exitCode: 0, durationMs: 7 }],
  [
    'that was cut',
    { ...shell('a', ''), truncated: true, signal: 'SIGTERM' },
    { exitCode: 0, stdout: 'a', durationMs: 7, truncated: true, signal: 'SIGTERM' },
  ],
])('of a process %s', (_which, result, told) => {
  expect(JSON.parse(toldText(result))).toEqual(told);
});

test('of a result with one text in two fields, and of one without', () => {
  const text = 'a text that is longer than it takes to say where it stands';
  expect(toldText({ path: 'a', content: text, text })).toBe(JSON.stringify({ path: 'a', content: text }));
  expect(toldText({ a: 'x', b: 'x', c: [text, text] })).toBe(JSON.stringify({ a: 'x', b: 'x', c: [text, text] }));
  expect(toldText('said')).toBe('said');
  expect(toldText([1])).toBe('[1]');
});
