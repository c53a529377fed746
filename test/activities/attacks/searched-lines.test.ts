/** Files with lines as long as a file may be: a search through them keeps the worker no longer than reading them does. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { commandContext } from '../harness/command-context.ts';
import { processorMs } from '../../elapsed.ts';

const MIB = 1024 * 1024;
const registry = builtInRegistry();
let project = '';
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sentinel-searched-'));
});

async function searched(
  params: object,
): Promise<{ matches: { path: string; line: number; text: string }[]; ms: number }> {
  const before = process.cpuUsage();
  const { matches } = (await registry.run('code/search', { ...params }, commandContext(project))) as never;
  const { user, system } = process.cpuUsage(before);
  return { matches, ms: (user + system) / 1000 };
}

const passesMs = Math.max(
  10,
  processorMs(() => 'a '.repeat(MIB).replaceAll(/[^\n]/g, 'x')),
);

test.each(['.', 'x|y|', 'x*?'])('one line, of which each character matches %s', async (pattern) => {
  await writeFile(join(project, 'long.txt'), `${'x'.repeat(3 * MIB)}\n`);
  const { matches, ms } = await searched({ pattern, path: 'long.txt' });
  expect(matches).toEqual([{ path: 'long.txt', line: 1, text: `${'x'.repeat(300)}…` }]);
  expect(ms).toBeLessThan(20 * passesMs);
});

test('many lines at the end of a file that looks like them', async () => {
  const lines = Array.from({ length: 2_000 }, (_, index) => `${'a'.repeat(40)}${index}b`);
  await writeFile(join(project, 'many.txt'), `${'a'.repeat(3 * MIB)}\n${lines.join('\n')}\n`);
  const { matches, ms } = await searched({ pattern: 'a\\d+b$', path: 'many.txt', limit: 2_000 });
  expect(matches.map(({ text }) => text)).toEqual(lines);
  expect(ms).toBeLessThan(20 * passesMs);
});

test('and lines are found as they are', async () => {
  await writeFile(join(project, 'some.txt'), 'one: 1\r\n  two ümläut\n\nthree [... 3 more matches]\n');
  await writeFile(join(project, 'binary.bin'), Buffer.from('one\0two\n'));
  await writeFile(join(project, 'latin.txt'), Buffer.from('one t\xfcr\n', 'latin1'));
  await writeFile(join(project, 'wide.txt'), Buffer.from('\uFEFFone wide\n', 'utf16le'));
  const { matches } = await searched({
    pattern: 'one|two|three',
    glob: ['some.txt', 'binary.bin', 'latin.txt', 'wide.txt'],
  });
  expect(matches).toEqual([
    { path: 'some.txt', line: 1, text: 'one: 1' },
    { path: 'some.txt', line: 2, text: '  two ümläut' },
    { path: 'some.txt', line: 4, text: 'three [... 3 more matches]' },
    { path: 'wide.txt', line: 1, text: 'one wide' },
  ]);
});
