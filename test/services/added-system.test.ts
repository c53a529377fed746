/**
 * One system more, in a copy of this repository: a folder, and one line in the list. Nothing else changes, everything that
 * is said of all systems is said of it, and it works through every door.
 */
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { files, root } from '../project/tree.ts';
import { LINE, STOCK } from './harness/added-system.ts';
import { openFolder, runIn, succeed, userShell, type Shell } from './harness/installed-package.ts';

let copy: string;
let shell: Shell;

const node = (...args: string[]): Promise<string> => succeed(copy, shell, process.execPath, ...args);
const sentinel = (...args: string[]): Promise<string> => node(join('dist', 'cli', 'main.js'), ...args);
const program = (path: string, ...args: string[]): Promise<string> => node(join('node_modules', path), ...args);

beforeAll(async () => {
  copy = join(realpathSync(openFolder()), 'copy');
  for (const path of files) {
    mkdirSync(join(copy, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  shell = { ...(await userShell()), SENTINEL_HOME: join(copy, '.sentinel') };
  const git = (...args: string[]): Promise<string> =>
    succeed(copy, shell, 'git', '-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args);
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'before');
  for (const [path, text] of Object.entries(STOCK)) {
    mkdirSync(dirname(join(copy, 'systems', 'stock', path)), { recursive: true });
    writeFileSync(join(copy, 'systems', 'stock', path), text);
  }
  const list = join(copy, 'systems', 'all.ts');
  writeFileSync(list, readFileSync(list, 'utf8') + LINE);
  await node('scripts/build.mjs');
}, 300_000);
afterAll(async () => {
  await runIn(copy, shell, process.execPath, join('dist', 'cli', 'main.js'), 'down');
  rmSync(dirname(copy), { recursive: true, force: true });
}, 120_000);

test('changes one line outside of its folder, after a build too', async () => {
  expect(await succeed(copy, shell, 'git', 'status', '--porcelain')).toBe(' M systems/all.ts\n?? systems/stock/');
  expect(await succeed(copy, shell, 'git', 'diff', '--numstat')).toBe('1\t0\tsystems/all.ts');
});

test('compiles, and is as all others in the eyes of the linter and of what holds for every file, command and failure', async () => {
  await program('typescript/bin/tsc', '--noEmit', '-p', '.');
  await program('oxlint/bin/oxlint', '--type-aware', '--quiet', 'systems');
  await program('prettier/bin/prettier.cjs', '--check', 'systems');
  const laws = ['test/project', 'test/language/reading/schema.test.ts', 'test/language/builder'];
  await program('vitest/vitest.mjs', 'run', '--project', 'fast', ...laws, 'test/cli/attacks/powers.test.ts');
  const secrets = 'test/activities/commands/secrets-of-commands.test.ts';
  await program('vitest/vitest.mjs', 'run', '--project', 'store', secrets);
}, 400_000);

test('is known to whoever reads, writes and asks', async () => {
  expect(await sentinel('--help')).toMatch(/^ +stock +what there is in a store room$/m);
  expect(JSON.parse(await sentinel('commands', 'stock/put', '--json'))).toMatchObject({
    system: 'stock',
    from: 'engine',
    failures: { STOCK_FULL: { title: 'The store room has no place for so much', isRetryable: true } },
  });
  expect(readFileSync(join(copy, 'docs', 'command-reference.md'), 'utf8')).toContain('### `stock/put`');
  expect(readFileSync(join(copy, 'authoring', 'builder', 'built-in-commands.ts'), 'utf8')).toContain("'stock/put': {");
  expect(await sentinel('schema')).toContain('"stock/put"');
});

test('works as a verb, as a step, as a shipped definition, over MCP and as a follower', async () => {
  expect(JSON.parse(await sentinel('stock', 'put', 'apples', '3', '--json'))).toEqual({
    ok: true,
    command: 'stock/put',
    result: { item: 'apples', count: 3 },
  });
  const refused = await runIn(copy, shell, process.execPath, 'dist/cli/main.js', 'stock', 'put', 'apples', '101');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.err).toContain('there is no place for 101');
  writeFileSync(join(copy, 'sentinel.config.js'), 'export default { settings: { stock: { max: 3 } } };');
  await sentinel('trust', '--yes');
  expect((await runIn(copy, shell, process.execPath, 'dist/cli/main.js', 'stock', 'put', 'figs', '4')).err).toContain(
    'there is no place for 4',
  );
  const steps = [{ type: 'command', command: 'stock/put', params: { item: 'pears', count: 2 } }];
  writeFileSync(join(copy, 'putting.json'), JSON.stringify({ name: 'putting', steps }));
  await sentinel('run', 'putting.json');
  expect(await putOverMcp('plums', 1)).toMatchObject({ result: { item: 'plums', count: 1 } });
  await expect
    .poll(() => reported(), { timeout: 60_000 })
    .toEqual([
      { item: 'apples', count: 3, heard: 1 },
      { item: 'pears', count: 2, heard: 1 },
      { item: 'plums', count: 1, heard: 1 },
    ]);
}, 200_000);

async function reported(): Promise<unknown> {
  const lines = (await sentinel('run', 'stock-report', '--json')).trim().split('\n');
  return (JSON.parse(lines.at(-1) ?? '') as { outputs: { stock: unknown } }).outputs.stock;
}

async function putOverMcp(item: string, count: number): Promise<unknown> {
  const client = new Client({ name: 'shopper', version: '1' });
  const args = [join(copy, 'dist', 'cli', 'main.js'), 'mcp', 'serve'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: copy, env: { ...shell } }));
  try {
    const said = await client.callTool({ name: 'stock_put', arguments: { item, count } });
    return said.structuredContent ?? said.content;
  } finally {
    await client.close();
  }
}
