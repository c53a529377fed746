/** What `sentinel init` writes runs as it is: its gate is green on a plain machine, and red once a check fails. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('the gate of a new project', async () => {
  expect(await harness.command('init')).toMatchObject({ code: 0 });
  const green = await harness.command('run', 'sentinels/gate.json');
  expect(green.out).toContain('completed');
  expect(green.code).toBe(0);
  const broken = join(harness.project, 'merged.txt');
  writeFileSync(broken, 'one\n<<<<<<< ours\ntwo\n');
  const red = await harness.command('run', 'sentinels/gate.json', '--json');
  expect(red.code).toBe(1);
  expect(red.out).toContain('SHELL_EXIT_NONZERO');
  expect(red.out).toContain('merged.txt:2');
  rmSync(broken);
  expect(readFileSync(join(harness.project, '.gitignore'), 'utf8')).toBe('.sentinel/\nnode_modules/\n');
  expect(await harness.command('run', 'sentinels/gate.json')).toMatchObject({ code: 0 });
});
