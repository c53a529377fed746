/** The examples of docs/builder.md are what the compiler accepts, and a misspelt reference in one is not. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const examples = Array.from(
  readFileSync(join(root, 'docs/builder.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
  ([, code = '']) => code,
).join('\n');

/** What the compiler says of a file beside which the repository lies. */
function complaintsOf(code: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'builder-docs-'));
  try {
    writeFileSync(join(folder, 'example.ts'), code.replaceAll("'./client/", `'${root}client/`));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: {
          rootDir: '/',
          rewriteRelativeImportExtensions: false,
          typeRoots: [join(root, 'node_modules/@types')],
        },
        include: [],
        files: ['example.ts'],
      }),
    );
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes('error'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the examples of the page are typed, and hold what they say', { timeout: 120_000 }, () => {
  expect(examples).toContain('.inputSchema(');
  expect(complaintsOf(examples)).toEqual([]);
  expect(complaintsOf(examples.replace("ref('channel')", "ref('chanel')"))).toEqual([
    expect.stringContaining('"chanel"'),
  ]);
});
