/** What the declarations of the client say: docs/client.md is made of them, and a project is compiled with them. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { read, root } from './tree.ts';

test('the page of the client is generated from its declarations, every public method among them', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'client-docs.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const methods = Array.from(
    read('client/client.ts').matchAll(/^ {2}(?:async )?\*?([a-z]\w+)\(/gm),
    ([, name]) => name,
  );
  const titles = new Set(Array.from(read('docs/client.md').matchAll(/^### `(\w+)`$/gm), ([, name]) => name));
  expect(methods.length).toBeGreaterThan(25);
  expect(methods.filter((name) => name !== 'constructor' && !titles.has(name))).toEqual([]);
});

test('what programs import has types of no other library than zod, so that a strict compiler needs none', () => {
  const dist = join(root, 'dist');
  const declared = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'));
  expect(declared.length).toBeGreaterThan(50);
  const named = declared.flatMap((name) =>
    Array.from(
      readFileSync(join(dist, name), 'utf8').matchAll(
        /^(?:import|export) [^;]*?from '([^'.][^']*)'|import\('([^'.][^']*)'\)/gm,
      ),
      ([, from, called]) => `${name} names ${from ?? called}`,
    ),
  );
  expect(named.filter((line) => !/ names zod(?:\/|$)/.test(line))).toEqual([]);
});
