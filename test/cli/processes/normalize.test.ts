/** `sentinel normalize`, as a process: the definition on stdout, what there is to say on stderr. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCli, type BuiltCli } from './built-cli.ts';

const CANONICAL = {
  name: 'n',
  steps: [{ type: 'shell', command: 'make', timeoutMs: 2000 }],
  loop: { type: 'count', max: 2 },
};

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
  writeFileSync(
    join(cli.folder, 'dialect.json'),
    '{"loop": 2, "steps": [{"timeout_secs": 2, "cmd": "make"}], "name": "n"}',
  );
  writeFileSync(
    join(cli.folder, 'broken.json'),
    '{"name": "n", "steps": [{"Shell": {"cmd": "make", "timeout_secs": 0}}]}',
  );
});

afterAll(() => cli.remove());

it('prints the canonical form, and prints it again', async () => {
  const first = await cli.run(['normalize', 'dialect.json']);
  expect(first).toMatchObject({ code: 0, stdout: `${JSON.stringify(CANONICAL, null, 2)}\n` });
  expect(first.stderr).toBe('dialect.json:\n  inferred: steps.0 is read as a step of type "shell": it has no "type"\n');
  writeFileSync(join(cli.folder, 'canonical.json'), first.stdout);
  expect(await cli.run(['normalize', 'canonical.json'])).toMatchObject({ code: 0, stdout: first.stdout, stderr: '' });
});

it('with --json prints one document', async () => {
  const { code, stdout } = await cli.run(['normalize', '--json', 'dialect.json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    definition: CANONICAL,
    problems: [],
    inferred: [expect.any(String)],
  });
});

it('refuses what has errors', async () => {
  const plain = await cli.run(['normalize', 'broken.json']);
  expect(plain).toMatchObject({ code: 2, stdout: '' });
  expect(plain.stderr).toMatch(/error OUT_OF_RANGE at steps\.0\.Shell\.timeout_secs/);
  const json = await cli.run(['normalize', 'broken.json', '--json']);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, problems: [{ code: 'OUT_OF_RANGE' }] });
});
