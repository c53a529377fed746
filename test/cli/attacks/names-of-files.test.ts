/** A name means what a person saved under it, whatever files a run has put where the person stands. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCli, type BuiltCli } from '../processes/built-cli.ts';

let cli: BuiltCli;
let folder: string;
const saying = (text: string): string =>
  JSON.stringify({ name: 'nightly', loop: { type: 'once' }, steps: [{ type: 'shell', command: `echo ${text}` }] });

beforeAll(async () => {
  cli = await buildCli();
  folder = mkdtempSync(join(tmpdir(), 'sentinel-names-'));
  mkdirSync(join(folder, 'sentinels', 'team'), { recursive: true });
  mkdirSync(join(folder, 'team'));
  writeFileSync(join(folder, 'sentinels', 'nightly.json'), saying('saved'));
  for (const name of ['nightly', 'team/nightly', 'other']) writeFileSync(join(folder, name), saying('planted'));
});
afterAll(() => {
  cli.remove();
  rmSync(folder, { recursive: true, force: true });
});

test.each(['explain', 'validate', 'simulate', 'graph'])('sentinel %s nightly', async (verb) => {
  const { stdout, stderr } = await cli.run([verb, 'nightly'], { cwd: folder });
  expect(stdout + stderr).not.toContain('planted');
});

test('sentinel explain nightly reads what is saved, and ./nightly the file', async () => {
  expect((await cli.run(['explain', 'nightly'], { cwd: folder })).stdout).toContain('saved');
  expect((await cli.run(['explain', './nightly'], { cwd: folder })).stdout).toContain('planted');
});

test.each(['team/nightly', 'other'])(
  'a file is not read for the name "%s", and how it is read is said',
  async (name) => {
    const { code, stdout, stderr } = await cli.run(['explain', name], { cwd: folder });
    expect(code).not.toBe(0);
    expect(stdout).not.toContain('planted');
    expect(stderr).toContain(`write "./${name}"`);
  },
);
