/** What is wrong with a definition is told in the same lines to people at a terminal and to programs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readDefinition } from '../../../client/package/read-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'sentinel-problem-lines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a program that reads a wrong file gets each error with place, remedy and the line', async () => {
  const file = join(folder, 'wrong.yaml');
  writeFileSync(file, 'name: wrong\nsteps:\n  - type: emit\n    evnt: e\n    data: $nobody\n  - type: shell\n');
  const shown = relative('.', file);
  await expect(readDefinition(file, { project: folder })).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
    message: [
      `${file} cannot be read as a definition:`,
      '  error UNKNOWN_KEY at steps.0.evnt: "evnt" is not a key here; write "event"',
      '    fix: write "event"',
      `    ${shown}:4:5 | evnt: e`,
      '  error MISSING_KEY at steps.1.command: "command" is missing; a string is needed',
      `    ${shown}:6:5 | - type: shell`,
    ].join('\n'),
  });
});

test('a file that is not there has no place', async () => {
  const file = join(folder, 'gone.yaml');
  await expect(readDefinition(file, { project: folder })).rejects.toMatchObject({
    message: `${file} cannot be read as a definition:\n  error FILE_NOT_READABLE: ${file} does not exist; check the path`,
  });
});
