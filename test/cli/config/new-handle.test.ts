/** Handles that a person can read. */
import { expect, test } from 'vitest';
import { newHandle } from '../../../runs/handles.ts';
import { handleFor } from '../../../cli/request/run-request.ts';

test.each([
  ['Verify project!', 'verify-project'],
  ['--Überprüfung__2', 'uberprufung-2'],
  ['検証', 'run'],
  ['x'.repeat(39) + ' y', 'x'.repeat(39)],
  ['x'.repeat(200), 'x'.repeat(40)],
])('of %j begin with %j, end in eight signs, and can be given with --id', (name, slug) => {
  const handle = newHandle(name);
  expect(handle).toMatch(new RegExp(`^${slug}-[2-9abcdefghjkmnpqrstuvwxyz]{8}$`));
  expect(handleFor(handle)).toBe(handle);
});

test('are drawn anew each time, with every sign', () => {
  const handles = Array.from({ length: 500 }, () => newHandle('a'));
  expect(new Set(handles).size).toBe(500);
  expect(new Set(handles.flatMap((handle) => Array.from(handle.slice(2)))).size).toBe(31);
});
