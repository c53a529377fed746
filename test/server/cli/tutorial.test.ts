/**
 * docs/tutorial.md, executed: its files are written and its commands run in a project, block by block, by a shell
 * in which `npx sentinel-engine` is the command line of this checkout. Each block must end as its kind says, and print the
 * lines of the `text` block behind it, in their order.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { read } from '../../project/tree.ts';
import { CLI, Harness } from '../harness/harness.ts';

interface Block {
  /** `sh`, `json sentinels/a.json`, `text`: what stands behind the fence. */
  kind: string;
  body: string;
}

const blocks: Block[] = Array.from(
  read('docs/tutorial.md').matchAll(/^```(\S[^\n]*)\n([^]*?)^```$/gm),
  ([, kind = '', body = '']) => ({ kind, body }),
);

/** What a block of commands ends with. */
const EXIT_CODES: Record<string, number> = { sh: 0, 'sh fails': 1, 'sh waits': 3 };

let harness: Harness;
let bin: string;
beforeAll(async () => {
  harness = await Harness.open();
  bin = join(harness.project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(harness.project, 'package.json'), '{ "name": "shop", "version": "1.0.0", "private": true }\n');
  const npx = join(bin, 'npx');
  writeFileSync(
    npx,
    `#!/bin/sh\n[ "$1" = sentinel-engine ] || exit 99\nshift\nexec "${process.execPath}" "${CLI}" "$@"\n`,
  );
  chmodSync(npx, 0o755);
});
afterAll(() => harness.close());

async function runBlock(script: string): Promise<{ code: number | undefined; said: string }> {
  const { exitCode, all } = await execa('sh', ['-ec', script], {
    cwd: harness.project,
    env: { ...harness.env, USER: 'ada', PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
    all: true,
    reject: false,
    timeout: 120_000,
  });
  return { code: exitCode, said: all };
}

/** A line of the page, as it is in the output; `…` is anything. */
const shown = (line: string): RegExp =>
  new RegExp(
    line
      .trimEnd()
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/ +/g, ' +'))
      .join('.*'),
  );

function missingLines(wanted: string, said: string): string[] {
  const lines = said.split('\n');
  let at = 0;
  return wanted
    .trimEnd()
    .split('\n')
    .filter((line) => {
      const found = lines.findIndex((one, index) => index >= at && shown(line).test(one));
      if (found !== -1) at = found + 1;
      return found === -1;
    });
}

test('the commands of the tutorial do what it says', { timeout: 300_000 }, async () => {
  let ran = 0;
  for (const [index, { kind, body }] of blocks.entries()) {
    const [language = '', file] = kind.split(' ');
    const code = EXIT_CODES[kind];
    if (code !== undefined) {
      const result = await runBlock(body);
      const next = blocks[index + 1];
      expect({ code: result.code, said: result.said }, body).toMatchObject({ code });
      if (next?.kind === 'text') expect(missingLines(next.body, result.said), `${body}\n${result.said}`).toEqual([]);
      ran += 1;
    } else if (language !== 'text' && file !== 'install') {
      writeFileSync(join(harness.project, file ?? ''), body);
    }
  }
  expect(ran).toBeGreaterThan(8);
  expect(blocks.filter(({ kind }) => kind === 'sh install')).toHaveLength(1);
  // The file that the page edits a run of stays as it was.
  expect(readFileSync(join(harness.project, 'sentinels', 'release.json'), 'utf8')).not.toContain('by hand');
});
