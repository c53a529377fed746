/** The built worker: in one piece with what every start needs, and without what only some steps ask for. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const outdir = mkdtempSync(join(ROOT, 'node_modules', '.sentinel-bundle-'));

beforeAll(async () => {
  const { bundleWorker } = (await import(pathToFileURL(join(ROOT, 'scripts', 'worker-bundle.mjs')).href)) as {
    bundleWorker: (outdir: string) => Promise<void>;
  };
  await bundleWorker(outdir);
});
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

interface Loaded {
  text: string;
  /** Modules that are looked for where npm put them. */
  others: string[];
}

/** What is read before a program does anything. */
function loadedBy(program: string): Loaded {
  const files = new Map<string, string>();
  const others = new Set<string>();
  const waiting = [program];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (files.has(name)) continue;
    const text = readFileSync(join(outdir, name), 'utf8');
    files.set(name, text);
    for (const [, imported = ''] of text.matchAll(/^(?:import|export)\s(?:[^'"]*\sfrom\s)?["']([^"']+)["'];$/gm))
      if (imported.startsWith('./')) waiting.push(imported.slice(2));
      else if (!isBuiltin(imported)) others.add(imported);
  }
  return { text: [...files.values()].join('\n'), others: [...others] };
}

const packagesIn = ({ text }: Loaded): Set<string> =>
  new Set(Array.from(text.matchAll(/node_modules\/((?:@[^/\s]+\/)?[^/\s"]+)\//g), ([, name = '']) => name));

test('a start reads files of the bundle alone', () => {
  expect(loadedBy('main.js').others).toEqual([]);
  expect(loadedBy('workflow-worker-thread.js').others).toEqual([]);
  expect(loadedBy('watch-thread.js').others).toEqual([]);
  expect(loadedBy('failure-converter.js').others).toEqual([]);
});

test('libraries of some steps alone are read with the first of them', () => {
  const packages = packagesIn(loadedBy('main.js'));
  expect(packages).toContain('@temporalio/worker');
  for (const name of ['undici', 'vscode-languageserver-protocol', 'openai', 'webpack', '@prisma/client'])
    expect(packages).not.toContain(name);
});

test('workflow code runs in a thread that reads little of the worker', () => {
  expect(packagesIn(loadedBy('workflow-worker-thread.js'))).not.toContain('rxjs');
});
