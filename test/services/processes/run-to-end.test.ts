/** Programs that are run for what they print. */
import { expect, test } from 'vitest';
import { runToEnd } from '../../../services/processes/run-to-end.ts';

const node = (script: string, options: Partial<Parameters<typeof runToEnd>[2]> = {}): Promise<string> =>
  runToEnd(process.execPath, ['-e', script], { timeoutMs: 60_000, ...options });

/** Writes the bytes of a text in parts, each when the one before has been read. */
const inParts = (parts: readonly (readonly number[])[], stream = 'stdout'): string =>
  `const parts = ${JSON.stringify(parts)};
   const next = () => parts.length > 0 && process.${stream}.write(Buffer.from(parts.shift()), () => setTimeout(next, 100));
   next();`;
const cut = (text: string, ...at: number[]): number[][] => {
  const bytes = [...Buffer.from(text)];
  return [0, ...at].map((from, index) => bytes.slice(from, at[index] ?? bytes.length));
};

test('lines are heard whole, however they arrive', async () => {
  const lines: string[] = [];
  const onLine = (line: string): void => void lines.push(line);
  // Within a word, and within the two bytes of "é".
  expect(await node(inParts(cut('one é two\nthree', 2, 5)), { onLine })).toBe('one é two\nthree');
  expect(lines).toEqual(['one é two', 'three']);
  await node(inParts(cut('four\nfive\n', 6), 'stderr'), { onLine });
  expect(lines.slice(2)).toEqual(['four', 'five']);
});

test('one that takes too long says so, with its last lines', async () => {
  const script = 'console.log("out"); console.error("err"); setInterval(() => {}, 1000)';
  await expect(node(script, { timeoutMs: 2000 })).rejects.toThrow(/-e was ended after 2 s: err$/);
  const heard = node(script, { timeoutMs: 2000, onLine: () => undefined });
  await expect(heard).rejects.toThrow(/-e was ended after 2 s: (out \| err|err \| out)$/);
});

test('one that fails says how, and one that is not there says that', async () => {
  await expect(node('console.error("wrong"); process.exitCode = 3')).rejects.toThrow(/-e ended with 3: wrong$/);
  await expect(runToEnd('/no/such/program', [], { timeoutMs: 1000 })).rejects.toThrow('ENOENT');
});
