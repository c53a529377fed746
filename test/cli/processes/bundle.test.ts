/** What is in the built command line, and what is not: every verb pays for it, and some libraries work only where npm put them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const outdir = mkdtempSync(join(ROOT, 'node_modules', '.sentinel-bundle-'));

beforeAll(async () => {
  const { bundleCli } = (await import(pathToFileURL(join(ROOT, 'scripts', 'cli-bundle.mjs')).href)) as {
    bundleCli: (outdir: string) => Promise<unknown>;
  };
  await bundleCli(outdir);
});
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

const filesWith = (text: string): string[] =>
  readdirSync(outdir).filter((file) => readFileSync(join(outdir, file), 'utf8').includes(text));

test('all of zod is in what the code of projects gets, and in nothing else', () => {
  // Words of a language that nothing of ours asks for.
  expect(filesWith('Ugyldig input')).toEqual(['for-projects.js']);
  expect(filesWith('for-projects.js')).toHaveLength(1);
});

test('a browser is driven by the library where npm put it', () => {
  expect(readdirSync(outdir).filter((file) => file.startsWith('playwright'))).toEqual([]);
  expect(filesWith('import("playwright-core")')).toHaveLength(1);
});
