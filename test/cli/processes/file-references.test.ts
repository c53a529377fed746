/** A definition that names another by its path, on every verb that reads definitions from files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCli, type BuiltCli } from './built-cli.ts';

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
  write(
    'flows/parent.yaml',
    'name: parent\nsteps:\n  - { type: sentinel, definition: ../lib/child.json, outputTo: got }\nloop: { type: once }\n',
  );
  write(
    'lib/child.json',
    '{\n  "name": "child",\n  "steps": [{ "type": "shell", "command": "echo from the file" }],\n  "loop": { "type": "once" }\n}\n',
  );
  write(
    'flows/wrong.yaml',
    'name: wrong\nsteps:\n  - { type: sentinel, definition: ../lib/broken.json }\nloop: { type: once }\n',
  );
  write(
    'lib/broken.json',
    '{\n  "name": "broken",\n  "steps": [\n    { "type": "shell", "comand": "ls" }\n  ],\n  "loop": { "type": "once" }\n}\n',
  );
  write(
    'flows/out.yaml',
    'name: out\nsteps:\n  - { type: sentinel, definition: ../../out.json }\nloop: { type: once }\n',
  );
  write(
    'flows/parent.sentinel-test.json',
    '{ "definition": "parent.yaml", "replies": { "echo from the file": { "exitCode": 0 } }, "expect": { "outcome": "completed" } }',
  );
});
afterAll(() => cli.remove());

function write(path: string, text: string): void {
  const file = join(cli.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test.each([
  ['validate', 'flows/parent.yaml', '✔ ok'],
  ['explain', 'flows/parent.yaml', 'echo from the file'],
  ['graph', 'flows/parent.yaml', 'echo from the file'],
  ['simulate', 'flows/parent.yaml', 'echo from the file'],
  ['normalize', 'flows/parent.yaml', '"command": "echo from the file"'],
  ['test', 'flows/parent.sentinel-test.json', '1 passed'],
])('%s reads the whole', async (verb, file, says) => {
  const { code, stdout, stderr } = await cli.run([verb, file]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain(says);
});

test.each(['validate', 'explain', 'graph', 'simulate', 'normalize'])(
  '%s says where the file is wrong',
  async (verb) => {
    const { code, stdout, stderr } = await cli.run([verb, 'flows/wrong.yaml']);
    expect(code).toBe(2);
    expect(stdout + stderr).toContain('lib/broken.json:4:24 | { "type": "shell", "comand": "ls" }');
  },
);

describe('with --json', () => {
  test('a problem has the place in the file', async () => {
    const { stdout } = await cli.run(['validate', '--json', 'flows/wrong.yaml']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [{ code: 'UNKNOWN_KEY', path: 'steps.0.comand', file: 'lib/broken.json', line: 4, column: 24 }],
    });
  });

  test('of several files too', async () => {
    const { stdout } = await cli.run(['validate', '--json', 'flows/parent.yaml', 'flows/wrong.yaml']);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ file: 'lib/broken.json', line: 4 }] });
  });
});

test('no path leads out of the project', async () => {
  const { code, stdout } = await cli.run(['validate', 'flows/out.yaml']);
  expect(code).toBe(2);
  expect(stdout).toContain(
    'error PATH_OUTSIDE_PROJECT at steps.0.definition: "../../out.json" in flows/out.yaml leads out of',
  );
});
