/** What a definition declares, on the command line: its inputs, and the forms and places of its text. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, type BuiltCli } from './built-cli.ts';

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
  const hello = { name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } };
  writeFileSync(join(cli.folder, 'hello.json'), JSON.stringify(hello));
  writeFileSync(
    join(cli.folder, 'deploy.json'),
    JSON.stringify({
      name: 'deploy',
      inputSchema: {
        type: 'object',
        properties: {
          target: { type: 'string', description: 'where to\u001b[31m' },
          count: { type: 'integer', default: 2 },
        },
        required: ['target'],
      },
      steps: [{ type: 'emit', event: 'x', data: ['$target', '$count'] }],
    }),
  );
});

afterAll(() => cli.remove());

describe('the inputs of a definition', () => {
  it('stand in the help of run', async () => {
    const { code, stdout, stderr } = await cli.run(['run', 'deploy.json', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /Inputs of deploy:\n +INPUT +TYPE +WITHOUT IT +WHAT FOR\n +target +string +needed +where to\[31m\n +count +integer +default 2\n/,
    );
  });

  it('are none where none are declared', async () => {
    expect((await cli.run(['run', '--help', 'hello.json'])).stdout).toContain('Inputs of hello: none are declared');
  });

  it('stand in the help of a project that has a configuration, from its folder and from another', async () => {
    const project = join(cli.folder, 'configured');
    mkdirSync(join(project, 'sentinels'), { recursive: true });
    const pick = { name: 'pick', inputs: { fruit: 'pear' }, steps: [{ type: 'emit', event: '$fruit' }] };
    writeFileSync(join(project, 'sentinels', 'pick.json'), JSON.stringify(pick));
    writeFileSync(join(project, 'sentinel.config.ts'), 'export default {};\n');
    for (const [cwd, args] of [
      [project, ['run', 'pick', '--help']],
      [project, ['run', 'sentinels/pick.json', '--help']],
      [cli.folder, ['run', 'pick', '--project', 'configured', '-h']],
      [cli.folder, ['run', '--project=configured', 'pick', '--help']],
    ] as const) {
      const { code, stdout } = await cli.run(args, { cwd });
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(stdout).toMatch(/Inputs of pick:\n.*\n +fruit +default "pear"\n/);
    }
  });

  it('that cannot be read leave the help as it is, and say why', async () => {
    const project = join(cli.folder, 'broken');
    mkdirSync(project);
    writeFileSync(join(project, 'sentinel.config.ts'), 'export default { commandz: [] };\n');
    const broken = await cli.run(['run', 'hello', '--project', 'broken', '--help']);
    expect(broken.code).toBe(0);
    expect(broken.stdout).toMatch(
      /^Usage: [^]*\nThe inputs cannot be listed: .*sentinel\.config\.ts: .*"commandz"\.\n$/,
    );
    writeFileSync(join(cli.folder, 'no-steps.json'), '{"name": "no-steps"}');
    const { code, stdout } = await cli.run(['run', 'no-steps.json', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Usage: [^]*\nThe inputs of no-steps\.json cannot be listed: sentinel validate no-steps\.json says why\.\n$/,
    );
  });

  it.each([
    { given: [], says: '"deploy": the input "target" (string: where to' },
    { given: ['target=a', 'count=x'], says: 'the input "count" (integer) does not fit: it must be integer' },
    { given: ['target=a', 'cuont=1'], says: 'there is no input "cuont"; write "count".' },
  ])('are refused as $given by run and by simulate', async ({ given, says }) => {
    for (const verb of ['run', 'simulate']) {
      const { code, stdout, stderr } = await cli.run([
        verb,
        'deploy.json',
        '--json',
        ...given.flatMap((input) => ['--input', input]),
      ]);
      expect({ verb, code }).toEqual({ verb, code: 2 });
      expect(stderr).toContain(says);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'INPUT_REFUSED' } });
    }
  });

  it('are refused where the definition neither declares nor reads them', async () => {
    const { code, stderr } = await cli.run(['run', 'hello.json', '--input', 'nmae=Ada']);
    expect(code).toBe(2);
    expect(stderr).toContain('"hello": there is no input "nmae"');
  });

  it('take a number for a text', async () => {
    const { code, stdout } = await cli.run(['simulate', 'deploy.json', '--json', '--input', 'target=1.40']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed' });
  });
});

describe('the forms of a file', () => {
  it('are found by name, checked and run alike', async () => {
    writeFileSync(join(cli.folder, 'inner.yaml'), 'name: inner\nsteps: [{type: emit, event: e}]\n');
    writeFileSync(
      join(cli.folder, 'outer.jsonc'),
      '{ // what it is\n"name": "outer", "steps": [{"type": "sentinel", "definition": {"$ref": "inner"}}]}',
    );
    const { code, stdout } = await cli.run(['validate', 'inner.yaml', 'outer.jsonc']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '✔ ok  inner.yaml\n✔ ok  outer.jsonc\n' });
    const simulated = await cli.run(['simulate', 'outer.jsonc', '--json']);
    const { outcome, steps } = JSON.parse(simulated.stdout) as { outcome: string; steps: { key: string }[] };
    expect(outcome).toBe('completed');
    expect(steps.map(({ key }) => key)).toContain('steps.0@1/steps.0@1');
  });

  it('show the line of a problem, with --json too', async () => {
    writeFileSync(join(cli.folder, 'wrong.yml'), 'name: wrong\nsteps:\n  - type: shel\u001b\n    command: x\n');
    const { code, stdout } = await cli.run(['validate', 'wrong.yml']);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^ {2}error .*\n(?: {4}fix: .*\n)? {4}wrong\.yml:3:5 \| - type: shel\n/m);
    const { problems } = JSON.parse((await cli.run(['validate', 'wrong.yml', '--json'])).stdout) as {
      problems: unknown[];
    };
    expect(problems).toMatchObject([{ path: 'steps.0.type', file: 'wrong.yml', line: 3, column: 5 }]);
  });
});
