/** The first example of a page, executed: its commands by a shell in which `sentinel` is the command line of this checkout. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { expect } from 'vitest';
import { read } from '../../project/tree.ts';
import { CLI, type Harness } from '../harness/harness.ts';

/** Runs the first `sh` block, which has to print the lines of the `text` block behind it, in their order; `…` is anything. */
export async function expectFirstExample(page: string, harness: Harness): Promise<void> {
  const blocks = Array.from(read(page).matchAll(/^```(\S[^\n]*)\n([^]*?)^```$/gm), ([, kind = '', body = '']) => ({
    kind,
    body,
  }));
  const [script, printed] = blocks;
  expect([script?.kind, printed?.kind]).toEqual(['sh', 'text']);
  const { exitCode, all } = await execa('sh', ['-ec', script?.body ?? ''], {
    cwd: harness.project,
    env: { ...harness.env, USER: 'ada', PATH: `${binOf(harness)}${delimiter}${process.env['PATH'] ?? ''}` },
    all: true,
    reject: false,
    timeout: 120_000,
  });
  expect(exitCode, all).toBe(0);
  let from = 0;
  for (const line of (printed?.body ?? '').trimEnd().split('\n')) {
    const found = shown(line).exec(all.slice(from));
    expect(found, `"${line}" in\n${all}`).not.toBeNull();
    from += (found?.index ?? 0) + (found?.[0].length ?? 0);
  }
}

function binOf(harness: Harness): string {
  const bin = join(harness.project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  const file = join(bin, 'sentinel');
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  chmodSync(file, 0o755);
  return bin;
}

const shown = (line: string): RegExp =>
  new RegExp(
    line
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
