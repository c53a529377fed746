/** The programs that the docs and examples/ show, run as they are written in a project that has the package installed. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../project/tree.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  mkdirSync(join(harness.project, 'node_modules'));
  symlinkSync(root, join(harness.project, 'node_modules/sentinel-engine'));
  mkdirSync(join(harness.project, 'src'));
  writeFileSync(join(harness.project, 'package.json'), '{"name": "mine", "scripts": {"test": "test -d src"}}');
});
afterAll(() => harness.close());

async function program(name: string, code: string): Promise<{ code: number; out: string; err: string }> {
  writeFileSync(join(harness.project, name), code);
  const {
    exitCode = -1,
    stdout,
    stderr,
  } = await execa(process.execPath, [name], {
    cwd: harness.project,
    env: harness.env,
    reject: false,
    timeout: 100_000,
  });
  return { code: exitCode, out: stdout, err: stderr };
}

test('the program of docs/builder.md', async () => {
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(root, 'docs/builder.md'), 'utf8')) ?? [];
  const { code: exit, out, err } = await program('verify.mjs', code);
  expect({ exit, err }).toMatchObject({ exit: 0 });
  expect(out).toMatch(/^verify-\w+: completed$/);
  const [handle = ''] = out.split(':');
  const events = await harness.events(handle);
  expect(events.filter(({ type }) => type === 'asked')).toEqual([]);
  expect(events).toContainEqual(expect.objectContaining({ type: 'step-finished', label: 'tests:passed' }));
});

test('examples/steer-a-run.ts starts a run, edits a step, answers the question, and sees the end', async () => {
  const source = readFileSync(join(root, 'examples/steer-a-run.ts'), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'esm' });
  const { code: exit, out, err } = await program('steer-a-run.mjs', code);
  expect({ exit, err }).toMatchObject({ exit: 0 });
  const lines = out.split('\n');
  expect(lines).toContain('asked');
  expect(lines).toContain('edited');
  expect(lines.at(-1)).toMatch(/^release-\w+: completed$/);
  const [handle = ''] = (lines.at(-1) ?? '').split(':');
  const run = await harness.store.runs.find(handle);
  expect(run).toMatchObject({ outcome: 'completed' });
  expect(await harness.command('logs', handle)).toMatchObject({
    out: expect.stringContaining('published 1.2.3') as string,
  });
});

test('a program may hand on inputs that it was not given', async () => {
  const { code, out, err } = await program(
    'hand-on.mjs',
    `import { SentinelClient } from 'sentinel-engine/client';
const client = new SentinelClient();
const definition = { name: 'hand-on', inputs: { n: 4 }, steps: [{ type: 'set', values: { m: '$n' } }], loop: { type: 'once' } };
const { handle } = await client.start(definition, { project: process.cwd(), inputs: undefined, persona: undefined });
console.log(JSON.stringify((await client.result(handle)).outputs));
await client.close();
`,
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toEqual({ m: 4 });
});
