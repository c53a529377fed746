import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const todo = (...args) => execFileSync(process.execPath, ['cli.js', ...args], { encoding: 'utf8' });

await test('prints what is still to do', () => {
  assert.equal(todo('todo.txt'), '[ ] buy milk\n');
});
