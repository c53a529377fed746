/** What is read of each tool's output: recorded samples, as data (test/cases/checks). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAnyOutput } from '../../../systems/code/verify/parse/any-output.ts';
import { parseCargo } from '../../../systems/code/verify/parse/cargo.ts';
import type { Finding, Parsed, Printed, TestCase } from '../../../systems/code/verify/parse/finding.ts';
import { parseGo } from '../../../systems/code/verify/parse/go.ts';
import { parseJest } from '../../../systems/code/verify/parse/jest.ts';
import { parseNodeTest, parsePytest } from '../../../systems/code/verify/parse/junit.ts';
import { parseTypeScript } from '../../../systems/code/verify/parse/typescript.ts';
import { parseUnittest } from '../../../systems/code/verify/parse/unittest.ts';

const folder = join(import.meta.dirname, '..', '..', 'cases', 'checks');

interface Sample {
  /** Which tool printed it, in which version. */
  tool: string;
  parser: string;
  root: string;
  folder?: string;
  stdout?: string[];
  stderr?: string[];
  /** Messages are held against their beginnings. */
  findings: Finding[];
  shown?: string;
  /** Every test, where the sample was recorded for these. */
  cases?: TestCase[];
}

const PARSERS: { readonly [parser: string]: (printed: Printed) => Parsed } = {
  typescript: parseTypeScript,
  jest: parseJest,
  'node:test': parseNodeTest,
  pytest: parsePytest,
  unittest: parseUnittest,
  cargo: parseCargo,
  go: (printed) => parseGo(printed, 'example.com/m'),
  any: parseAnyOutput,
};

const samples = readdirSync(folder).map((name) => ({
  name,
  sample: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Sample,
}));

describe('recorded output', () => {
  it('is there for every parser', () => {
    expect(new Set(samples.map(({ sample }) => sample.parser))).toEqual(new Set(Object.keys(PARSERS)));
  });

  it.each(samples)('$name', ({ sample }) => {
    const [stdout, stderr] = [sample.stdout ?? [], sample.stderr ?? []].map((lines) => lines.join('\n'));
    const printed = {
      stdout: stdout ?? '',
      stderr: stderr ?? '',
      output: `${stdout ?? ''}\n${stderr ?? ''}`,
      exitCode: 1,
    };
    const { findings, shown, cases } = PARSERS[sample.parser]?.({
      ...printed,
      root: sample.root,
      folder: sample.folder ?? '',
    }) ?? {
      findings: [],
      cases: [],
    };
    const cut = findings.map((finding, index) => ({
      ...finding,
      message: finding.message.slice(0, sample.findings[index]?.message.length),
    }));
    expect(cut).toEqual(sample.findings);
    if (sample.cases !== undefined) expect(cases).toEqual(sample.cases);
    if (sample.shown !== undefined) expect(shown).toContain(sample.shown);
  });

  it.each(Object.entries(PARSERS))('%s finds nothing in what it does not know', (_name, parse) => {
    for (const stdout of ['', '{', '<?xml', '{"testResults": 1}\n', 'not ok', '---- a stdout ----'])
      expect(parse({ stdout, stderr: '', output: stdout, exitCode: 1, root: '/p', folder: '' }).findings).toEqual([]);
  });

  it.each([
    ['a line of dots', `a (b)\n${' ... '.repeat(200_000)}${'\n'.repeat(300)}c (d) ... ok\n`],
    ['many lines of dots', `${`a (b)\n${' ... '.repeat(1_000)}\n`.repeat(400)}c (d) ... ok\n`],
    ['names without a status', `${'a (b)\n'.repeat(150_000)}c (d) ... ok\n`],
    ['one name that does not end', `${'a'.repeat(1_000_000)}\nc (d) ... ok\n`],
    ['blocks without an end', `${`${'='.repeat(70)}\nFAIL: a (b)\n`.repeat(12_000)}c (d) ... ok\n`],
  ])('unittest comes through %s', (_what, stderr) => {
    const printed = { stdout: '', stderr, output: stderr, exitCode: 0, root: '/p', folder: '' };
    expect(parseUnittest(printed).cases).toEqual([{ test: 'd.c', status: 'passed' }]);
  });
});
