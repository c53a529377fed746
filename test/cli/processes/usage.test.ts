import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, type BuiltCli } from './built-cli.ts';

const VERBS = [
  'validate',
  'test',
  'simulate',
  'run',
  'status',
  'list',
  'trace',
  'logs',
  'follow',
  'pause',
  'resume',
  'stop',
  'cancel',
  'schedule',
  'trigger',
  'emit',
  'hooks',
  'up',
  'down',
  'doctor',
  'worker',
  'models',
  'fork',
  'replay',
  'step',
  'diff',
  'inbox',
  'answer',
  'normalize',
  'schema',
  'explain',
  'graph',
];

const HELLO = { name: 'hello', steps: [{ type: 'emit', event: 'x' }], loop: { type: 'once' } };
const BROKEN = {
  name: 'broken',
  steps: [{ type: 'shel', command: 'x' }],
  loop: { type: 'until', check: '$a === 1' },
  colour: 1,
};

const refersTo = (name: string): object[] => [{ type: 'sentinel', definition: { $ref: name } }];

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
  writeFileSync(join(cli.folder, 'hello.json'), JSON.stringify(HELLO));
  writeFileSync(join(cli.folder, 'broken.json'), JSON.stringify(BROKEN));
  writeFileSync(join(cli.folder, 'cut.json'), '{"name": ');
  writeFileSync(join(cli.folder, 'latin.json'), Buffer.from([0x22, 0xe9, 0x22]));
  writeFileSync(
    join(cli.folder, 'parent.json'),
    JSON.stringify({ ...HELLO, name: 'parent', steps: [{ type: 'sentinel', definition: { $ref: 'hello' } }] }),
  );
  writeFileSync(
    join(cli.folder, 'orphan.json'),
    JSON.stringify({ ...HELLO, name: 'orphan', steps: [{ type: 'sentinel', definition: { $ref: 'nobody' } }] }),
  );
  const retrier = {
    name: 'retrier',
    steps: [{ type: 'shell', command: 'npm test', outputTo: 't' }],
    loop: { type: 'until', check: '$t.exitCode === 0' },
  };
  writeFileSync(join(cli.folder, 'retrier.json'), JSON.stringify(retrier));
  writeFileSync(
    join(cli.folder, 'boss.json'),
    JSON.stringify({ ...HELLO, name: 'boss', steps: refersTo('retrier'), safety: { timeoutMs: 600_000 } }),
  );
  writeFileSync(
    join(cli.folder, 'endless.json'),
    JSON.stringify({ ...HELLO, name: 'endless', steps: refersTo('retrier') }),
  );
  writeFileSync(
    join(cli.folder, 'to-typo.json'),
    JSON.stringify({ ...HELLO, name: 'to-typo', steps: refersTo('typo') }),
  );
  writeFileSync(
    join(cli.folder, 'typo.json'),
    JSON.stringify({ ...HELLO, name: 'typo', steps: [{ type: 'shell', command: 'x', comand: 'x' }] }),
  );
  mkdirSync(join(cli.folder, 'folder.json'));
});

afterAll(() => cli.remove());

it.skipIf(!existsSync('/dev/full'))('what cannot be written is no success', async () => {
  const verbs = [['schema'], ['validate', 'hello.json', '--json'], ['list', '--help'], ['--version']];
  for (const words of verbs) {
    const said = await sayToFullDisk(cli.commandLine(words));
    expect(said, words.join(' ')).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^sentinel: the output cannot be written \(ENOSPC.*write it to where there is room/,
      ) as string,
    });
  }
});

const sayToFullDisk = (line: string): Promise<{ code: number; stderr: string }> =>
  new Promise((resolve) => {
    execFile('sh', ['-c', `${line} > /dev/full`], { cwd: cli.folder }, (error, _stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    );
  });

describe('help', () => {
  it('lists every verb', async () => {
    const { code, stdout } = await cli.run(['--help']);
    expect(code).toBe(0);
    for (const verb of VERBS) expect(stdout).toMatch(new RegExp(`^  ${verb} `, 'm'));
  });

  it.each(VERBS)('%s has examples and --json', async (verb) => {
    const { code, stdout, stderr } = await cli.run([verb, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--json');
    expect(stdout).toMatch(new RegExp(`Examples:\\n(.*\\n)*.*sentinel ${verb}`));
  });
});

describe('usage errors', () => {
  const cases: { args: string[]; says: RegExp }[] = [
    { args: ['rnu', 'x'], says: /^sentinel: "rnu" is not a verb; write "run", or see "sentinel --help"\.\n$/ },
    { args: ['watch'], says: /^sentinel: "watch" is not a verb; write "follow", or see/ },
    { args: ['ps'], says: /^sentinel: "ps" is not a verb; write "list", or see/ },
    { args: ['kill', 'nightly'], says: /^sentinel: "kill" is not a verb; write "cancel", or see/ },
    {
      args: ['schedule', 'add'],
      says: /^sentinel: "add" is not a verb of "sentinel schedule"; write "create", or see/,
    },
    { args: ['data', 'rm', 'todos'], says: /^sentinel: "rm" is not a verb of "sentinel data"; write "delete", or see/ },
    {
      args: ['cycle', 'lst'],
      says: /^sentinel: "lst" is not a verb of "sentinel cycle"; write "list", or see "sentinel cycle --help"\.\n$/,
    },
    ...['cancel', 'pause', 'run', 'start'].map((word) => ({
      args: ['cycle', word],
      says: new RegExp(`^sentinel: "${word}" is not a verb of "sentinel cycle"; .*see "sentinel cycle --help"\\.\n$`),
    })),
    { args: ['cycle', '--', 'go', '--more'], says: /^sentinel: too many arguments/ },
    { args: ['cycle', '--project', 'nowhere', '--', 'cancel'], says: /^sentinel: --project nowhere does not exist/ },
    { args: ['xylophone'], says: /^sentinel: "xylophone" is not a verb; see "sentinel --help"\.\n$/ },
    {
      args: ['run'],
      says: /^sentinel: missing required argument "definition"; "sentinel run --help" shows what it takes\.\n$/,
    },
    { args: ['validate'], says: /missing required argument "file"/ },
    {
      args: ['step'],
      says: /^sentinel: "sentinel step" needs a verb: write one of list, add, update, remove, skip, or see "sentinel step --help"\.\n$/,
    },
    { args: ['schedule'], says: /"sentinel schedule" needs a verb/ },
    { args: ['hooks'], says: /"sentinel hooks" needs a verb/ },
    { args: ['trigger'], says: /"sentinel trigger" needs a verb/ },
    {
      args: ['fork', 'nightly'],
      says: /fork needs the step to begin with: --at KEY; "sentinel trace nightly" shows the steps of the run\.\n$/,
    },
    {
      args: ['fork', 'nightly', '--at', 'steps.0@1', '--set', 'a'],
      says: /--set a has no name and value; write --set name=value\.\n$/,
    },
    { args: ['replay'], says: /replay takes the handle of a run, or --history FILE; give one of them\.\n$/ },
    {
      args: ['replay', '--history', 'hello.json'],
      says: /--history hello\.json cannot be read|does not begin with the start of a run/,
    },
    {
      args: ['answer', 'nightly'],
      says: /^sentinel: "answer" needs a choice behind the handle, such as "sentinel answer nightly approve"; "sentinel inbox" shows the questions with their choices\.\n$/,
    },
    { args: ['answer', 'a', 'b', 'c', 'd'], says: /"answer" takes a handle, at most one id and a choice/ },
    {
      args: ['data', 'lst', 'todos'],
      says: /^sentinel: "lst" is not a verb of "sentinel data"; write "list", or see "sentinel data --help"\.\n$/,
    },
    {
      args: ['inbox', 'shw', 'nightly'],
      says: /^sentinel: "shw" is not a verb of "sentinel inbox"; write "show", or see "sentinel inbox --help"\.\n$/,
    },
    {
      args: ['data', 'list'],
      says: /^sentinel: missing required argument "collection"; "sentinel data list --help" shows what it takes\.\n$/,
    },
    {
      args: ['step', 'update', '--prams', '{}'],
      says: /^sentinel: unknown option "--prams"; write --params, or see "sentinel step update --help"\.\n$/,
    },
    { args: ['status', 'a', 'b'], says: /too many arguments.*"sentinel status --help"/ },
    { args: ['run', 'hello.json', '--inptu', 'a=1'], says: /unknown option "--inptu"; write --input, or see/ },
    {
      args: ['run', 'hello.json', '--input', 'a'],
      says: /--input a has no name and value; write --input name=value\.\n$/,
    },
    { args: ['run', 'hello.json', '--input', 'NOW=1'], says: /"NOW" has the name of a built-in variable/ },
    { args: ['run', 'hello.json', '--input', '__proto__=1'], says: /"__proto__" cannot name an input/ },
    { args: ['run', 'hello.json', '--input', 'a.b=1'], says: /"a\.b" cannot name an input/ },
    { args: ['run', 'hello.json', '--input-file', 'none.json'], says: /--input-file none\.json cannot be read/ },
    { args: ['run', 'hello.json', '--input-file', 'cut.json'], says: /does not hold a JSON object/ },
    { args: ['run', 'hello.json', '--project', 'nowhere'], says: /--project nowhere does not exist/ },
    { args: ['run', 'hello.json', '--project', 'hello.json'], says: /--project hello\.json is not a folder/ },
    { args: ['run', 'hello.json', '--id', 'a/b'], says: /"a\/b" cannot be a handle/ },
    { args: ['run', 'helo'], says: /no definition "helo".*; write "hello", or give the path of a file\.\n$/ },
    {
      args: ['list', '--status', 'done'],
      says: /--status is "done"; write one of running, paused, completed, failed, stopped, cancelled\.\n$/,
    },
    { args: ['list', '--limit', '0'], says: /--limit is "0"; write a whole number from 1 to 10000\.\n$/ },
    {
      args: ['logs', 'x', '--lines', '5', '--follow'],
      says: /--follow shows everything from the beginning and --lines only the end; give one of them\.\n$/,
    },
    { args: ['logs', 'x', '--lines', 'ten'], says: /--lines is "ten"/ },
    {
      args: ['logs', 'x', '--stream', 'stdot'],
      says: /--stream is "stdot"; write one of combined, stdout, stderr, model\.\n$/,
    },
  ];

  it.each(cases)('$args', async ({ args, says }) => {
    const { code, stdout, stderr } = await cli.run(args);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('are one object on stdout with --json', async () => {
    const { code, stdout } = await cli.run(['run', 'hello.json', '--json', '--project', 'nowhere']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      error: { code: 'USAGE', message: expect.stringContaining('nowhere') as string },
    });
  });

  it.each(['step', 'schedule', 'hooks', 'trigger'])(
    '%s without a verb of its own is one with --json, too',
    async (verb) => {
      const { code, stdout, stderr } = await cli.run([verb, '--json']);
      expect(code).toBe(2);
      expect(stderr).toContain(`"sentinel ${verb}" needs a verb`);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'USAGE' } });
    },
  );

  it('name a setting that cannot be used', async () => {
    const { code, stderr } = await cli.run(['list'], { env: { TEMPORAL_ADDRESS: 'http://x' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sentinel: TEMPORAL_ADDRESS .*host:port/);
  });
});

describe('validate', () => {
  it('says that a definition is fine', async () => {
    const { code, stdout, stderr } = await cli.run(['validate', '--json', 'hello.json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ ok: true, problems: [], inferred: [] });
  });

  it('reports all problems at once', async () => {
    const { code, stdout } = await cli.run(['validate', '--json', 'broken.json']);
    expect(code).toBe(2);
    const { ok, problems } = JSON.parse(stdout) as {
      ok: boolean;
      problems: { code: string; severity: string; path: string; message: string }[];
    };
    expect(ok).toBe(false);
    const places = problems.map((problem) => `${problem.code} ${problem.path}`);
    expect(places).toEqual(
      expect.arrayContaining(['UNKNOWN_KEY colour', 'WRONG_VALUE steps.0.type', 'UNBOUNDED_LOOP loop']),
    );
    for (const { severity, message } of problems)
      expect({ severity, message }).toEqual({
        severity: expect.stringMatching(/^(error|warning)$/),
        message: expect.stringMatching(/./),
      });
  });

  it.each([
    ['none.json', 'FILE_NOT_READABLE'],
    ['folder.json', 'FILE_NOT_READABLE'],
    ['latin.json', 'FILE_NOT_READABLE'],
    ['/dev/zero', 'TOO_LARGE'],
    ['cut.json', 'NOT_JSON'],
    ['orphan.json', 'UNKNOWN_DEFINITION'],
    ['retrier.json', 'UNBOUNDED_LOOP'],
    ['endless.json', 'UNBOUNDED_LOOP'],
    ['to-typo.json', 'UNKNOWN_KEY'],
  ])('%s: %s', async (file, expected) => {
    const { code, stdout } = await cli.run(['validate', '--json', file]);
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as { problems: { code: string }[] }).problems[0]?.code).toBe(expected);
  });

  it('finds a reference in the file beside it', async () => {
    expect((await cli.run(['validate', 'parent.json'])).code).toBe(0);
  });

  it.each([['validate'], ['simulate']])('%s takes a reference to what only its own limit bounds', async (verb) => {
    const { code, stdout } = await cli.run([verb, '--json', 'boss.json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });
});

describe('validate, of several files,', () => {
  it('reports them in one document', async () => {
    const { code, stdout } = await cli.run(['validate', '--json', 'hello.json', 'none.json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [{ file: 'none.json', code: 'FILE_NOT_READABLE' }],
      files: [
        { file: 'hello.json', ok: true },
        { file: 'none.json', ok: false },
      ],
    });
  });

  it('leaves out what stands beside definitions and is none', async () => {
    const { code, stdout } = await cli.run([
      'validate',
      '--json',
      'hello.json',
      'hello.sentinel-test.json',
      'sentinel.schema.json',
    ]);
    expect(code).toBe(0);
    const skipped = [
      { file: 'hello.sentinel-test.json', skipped: expect.stringContaining('"sentinel test"') },
      { file: 'sentinel.schema.json', skipped: 'a JSON Schema' },
    ];
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [], files: [{ file: 'hello.json' }, ...skipped] });
  });

  it('has nothing to check in a test alone', async () => {
    const { code, stderr } = await cli.run(['validate', 'hello.sentinel-test.json']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^sentinel: hello\.sentinel-test\.json is a test of a definition, which "sentinel test" runs/,
      ),
    });
  });
});

describe('run', () => {
  it.each(['broken.json', 'none.json', 'cut.json', 'orphan.json', 'retrier.json', 'endless.json', 'to-typo.json'])(
    'starts nothing for %s',
    async (file) => {
      const { code, stdout, stderr } = await cli.run(['run', file, '--json']);
      expect(code).toBe(2);
      const document = JSON.parse(stdout) as { ok: boolean; error: { code: string }; problems: unknown[] };
      expect({ ok: document.ok, code: document.error.code }).toEqual({ ok: false, code: 'DEFINITION_INVALID' });
      expect(document.problems.length).toBeGreaterThan(0);
      expect(stderr).toContain('nothing was started');
      expect(existsSync(join(cli.folder, 'home'))).toBe(false);
    },
  );
});

describe('shipped definitions', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'sentinels');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.schema|\.sentinel-test)\.json$/.test(file),
  );

  it('have no problem at all', async () => {
    const { code, stdout } = await cli.run(['validate', '--json', ...files.map((file) => join(folder, file))]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] });
    expect(code).toBe(0);
    expect(files.length).toBeGreaterThan(4);
  });
});

describe('colours', () => {
  it.each([
    [{}, false],
    [{ FORCE_COLOR: '1' }, true],
    [{ FORCE_COLOR: '0' }, false],
    [{ NO_COLOR: '1' }, false],
  ])('%o: %s', async (env, coloured) => {
    const { stdout } = await cli.run(['validate', 'hello.json'], { env });
    expect(stdout.includes('\u001B[')).toBe(coloured);
  });
});
