import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
let project: string;

const FILES: Record<string, string> = {
  'src/a.ts': 'export const one = 1;\nexport const two = one + one;\n',
  'src/deep/er/b.ts': 'import { one } from "../../a.ts";\n',
  'docs/One.md': 'One of many\nNone.\n',
  'out/a.js': 'const one = 1;\n',
  'src/kept/c.log': 'one\n',
  '.env': 'KEY=one\n',
  '.sentinel/home': 'one\n',
  '.gitignore': 'out\n',
  'src/.gitignore': '*.log\n',
  'long.txt': `one ${'x'.repeat(5_000)}\n`,
  'picture.bin': 'one\0two\n',
};

beforeEach(async () => {
  project = await temporaryFolder();
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const outside = await temporaryFolder();
  await writeFile(join(outside, 'secret.ts'), 'one outside\n');
  await symlink(outside, join(project, 'src/link'));
  await symlink(join(outside, 'secret.ts'), join(project, 'src/secret.ts'));
});

const run = (name: string, params: Json): Promise<Json> => registry.run(name, params, commandContext(project));
const found = async (params: Json): Promise<string[]> =>
  ((await run('code/search', params)) as { matches: { path: string; line: number }[] }).matches.map(
    ({ path, line }) => `${path}:${line}`,
  );

describe('code/search', () => {
  it('finds lines by a regular expression, in the order of files, without what git ignores, hides or links away', async () => {
    expect(await found({ pattern: String.raw`\bone\b` })).toEqual([
      'long.txt:1',
      'src/a.ts:1',
      'src/a.ts:2',
      'src/deep/er/b.ts:1',
    ]);
    expect(await run('code/search', { pattern: 'two = ' })).toEqual({
      matches: [{ path: 'src/a.ts', line: 2, text: 'export const two = one + one;' }],
      truncated: false,
    });
  });

  it('takes a list of words as they are, whatever their case', async () => {
    expect(await found({ pattern: ['ONE OF', 'one + one'] })).toEqual(['docs/One.md:1', 'src/a.ts:2']);
    expect(await found({ pattern: ['one + ('] })).toEqual([]);
    expect(await found({ pattern: ['ONE OF'], ignoreCase: false })).toEqual([]);
  });

  it('looks where it is told to', async () => {
    expect(await found({ pattern: 'one', path: 'src/deep' })).toEqual(['src/deep/er/b.ts:1']);
    expect(await found({ pattern: 'one', path: 'src/a.ts' })).toEqual(['src/a.ts:1', 'src/a.ts:2']);
    expect(await found({ pattern: '(?i)one', glob: ['*.md', '*.ts', '!b.ts'] })).toEqual([
      'docs/One.md:1',
      'docs/One.md:2',
      'src/a.ts:1',
      'src/a.ts:2',
    ]);
    // What begins with a dash is a pattern all the same.
    expect(await found({ pattern: '--files' })).toEqual([]);
    expect(await found({ pattern: 'one', glob: '--pre=sh' })).toEqual([]);
  });

  it('says when there is more, and cuts a line that is long', async () => {
    expect(await run('code/search', { pattern: 'one', path: 'src', limit: 2 })).toMatchObject({
      matches: [{ line: 1 }, { line: 2 }],
      truncated: true,
    });
    const { matches } = (await run('code/search', { pattern: 'one x' })) as { matches: { text: string }[] };
    expect(matches.map(({ text }) => text.length)).toEqual([301]);
  });

  it.each([
    [{ pattern: '(' }, 'COMMAND_PARAMS_INVALID', /regex parse error/],
    [{ pattern: 'a', glob: '{' }, 'COMMAND_PARAMS_INVALID', /glob/],
    [{ pattern: [] }, 'COMMAND_PARAMS_INVALID', /pattern/],
    [{ pattern: [' '] }, 'COMMAND_PARAMS_INVALID', /pattern/],
    [{ pattern: 'a', path: '..' }, 'PATH_OUTSIDE_PROJECT', /leads out/],
    [{ pattern: 'a', path: 'src/link' }, 'PATH_OUTSIDE_PROJECT', /symbolic link/],
    [{ pattern: 'a', path: 'gone' }, 'FILE_NOT_FOUND', /"gone" does not exist/],
  ])('refuses %j', async (params, code, message) => {
    await expect(run('code/search', params)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
  });

  it('ends when the step is cancelled', async () => {
    const context = commandContext(project, { signal: AbortSignal.abort(new Error('cancelled')) });
    await expect(registry.run('code/search', { pattern: 'one' }, context)).rejects.toThrow('cancelled');
  });
});

describe('code/tree', () => {
  it('shows folders first, each with what it holds', async () => {
    expect(await run('code/tree', {})).toEqual({
      structure: 'docs/\n  One.md\nsrc/\n  deep/\n    er/ (1 file)\n  a.ts\nlong.txt\npicture.bin\n',
      files: 5,
      truncated: false,
    });
    expect(await run('code/tree', { depth: 1 })).toMatchObject({
      structure: 'docs/ (1 file)\nsrc/ (2 files)\nlong.txt\npicture.bin\n',
    });
  });

  it('shows a folder alone', async () => {
    const structure = 'er/\n  b.ts\n';
    expect(await run('code/tree', { path: './src/deep/' })).toEqual({ structure, files: 1, truncated: false });
    await expect(run('code/tree', { path: '../' })).rejects.toMatchObject({ code: 'PATH_OUTSIDE_PROJECT' });
    await expect(run('code/tree', { path: 'src/gone' })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});
