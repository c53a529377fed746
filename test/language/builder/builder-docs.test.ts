/** The examples of docs/builder.md are what the compiler accepts, and what is misspelt in one is not. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../project/tree.ts';

const page = readFileSync(join(root, 'docs/builder.md'), 'utf8');
const examples = Array.from(page.matchAll(/^```(?:ts|js)\n(.*?)^```$/gms), ([, code = '']) => code).join('\n');

/** What the compiler says of a project's files, in which the package is installed. */
function complaintsOf(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'builder-docs-'));
  try {
    for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/sentinel-engine'));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: { rootDir: '/', typeRoots: [join(root, 'node_modules/@types')] },
        include: [],
        files: Object.keys(files),
      }),
    );
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes('error'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the examples of the page are typed, and hold what they say', { timeout: 120_000 }, () => {
  const misspelt = (word: string, wrong: string): string => {
    expect(examples).toContain(word);
    return examples.replace(word, wrong);
  };
  expect(
    complaintsOf({
      'right.ts': examples,
      'reference.ts': misspelt("ref('channel')", "ref('chanel')"),
      'command.ts': misspelt("'code/tree'", "'code/tre'"),
      'parameter.ts': misspelt('depth: 2', 'deep: 2'),
      'own.ts': misspelt("({ id: ref('id') })", "({ key: ref('id') })"),
    }).map((line) => basename(line.replace(/\(.*/, ''))),
  ).toEqual(['command.ts', 'own.ts', 'parameter.ts', 'reference.ts']);
});
