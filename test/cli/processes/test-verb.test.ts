/** `sentinel test`: the shipped tests pass, and what is wrong is told in a way that helps. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, type BuiltCli, type Finished } from './built-cli.ts';

const BUILD = {
  name: 'build',
  steps: [
    { type: 'shell', name: 'compile', command: 'make $target', outputTo: 'made' },
    {
      type: 'condition',
      check: '$made.success',
      then: [{ type: 'emit', event: 'green' }],
      else: [{ type: 'emit', event: 'red' }],
    },
  ],
  loop: { type: 'once' },
};
const LINES = [
  'steps.0@1 shell ok "compile"',
  'steps.1@1 condition -> then "$made.success"',
  'steps.1.then.0@1 emit ok "green"',
];

let cli: BuiltCli;

function write(path: string, value: unknown): void {
  writeFileSync(join(cli.folder, path), typeof value === 'string' ? value : JSON.stringify(value));
}

const written = (path: string): unknown => JSON.parse(readFileSync(join(cli.folder, path), 'utf8'));

interface Document {
  ok: boolean;
  passed: number;
  failed: number;
  files: {
    file: string;
    mistakes: string[];
    cases: {
      name: string;
      ok: boolean;
      unused: string[];
      problems: { code: string }[];
      differences: { part: string }[];
    }[];
  }[];
}

const documentOf = ({ stdout }: Finished): Document => JSON.parse(stdout) as Document;

beforeAll(async () => {
  cli = await buildCli();
  mkdirSync(join(cli.folder, 'sentinels', 'deep'), { recursive: true });
  write('sentinels/deep/build.json', BUILD);
  write('sentinels/deep/build.sentinel-test.json', {
    inputs: { target: 'all' },
    cases: [
      { name: 'green', expect: { trace: LINES, effects: { 'steps.0@1': { env: { SENTINEL_1: 'all' } } } } },
      {
        name: 'red',
        inputs: { target: 'web' },
        replies: { 'shell make web': { exitCode: 2 } },
        expect: { outputs: { made: { exit_code: 2 } }, trace: ['…', 'steps.1.else.0@1 emit ok "red"'] },
      },
    ],
  });
});

afterAll(() => cli.remove());

describe('the shipped definitions', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'sentinels');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.json') && !file.endsWith('.schema.json'),
  );

  it('have tests, and pass them', async () => {
    const report = documentOf(await cli.run(['test', '--json', folder]));
    expect(report).toMatchObject({ ok: true, failed: 0 });
    const untested = files.filter(
      (file) =>
        !file.endsWith('.sentinel-test.json') && !files.includes(file.replace(/\.json$/, '.sentinel-test.json')),
    );
    expect(untested).toEqual([]);
    expect(report.files.flatMap(({ cases }) => cases.flatMap(({ unused }) => unused))).toEqual([]);
  });
});

describe('finding tests', () => {
  it.each([
    [[], 2],
    [['sentinels'], 2],
    [['sentinels/deep/build.json'], 2],
    [['sentinels/deep/build.sentinel-test.json', 'sentinels/deep'], 2],
  ])('%j', async (paths, passed) => {
    const { code, stdout } = await cli.run(['test', ...paths]);
    expect(stdout).toMatch(new RegExp(`\\n${passed} passed, 0 failed in 1 file\\n$`));
    expect(code).toBe(0);
  });

  it.each([
    [['none.json'], /none\.json does not exist/],
    [['sentinels/nothing'], /does not exist/],
    [['--out', 'x'], /--out says where --record writes/],
  ])('%j is refused', async (args, says) => {
    const { code, stderr } = await cli.run(['test', ...args]);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });

  it('says where there are none', async () => {
    mkdirSync(join(cli.folder, 'empty'), { recursive: true });
    const { code, stderr } = await cli.run(['test'], { cwd: join(cli.folder, 'empty') });
    expect(stderr).toMatch(/There is no \*\.sentinel-test\.json/);
    expect(code).toBe(2);
  });
});

describe('what does not hold', () => {
  const cases: { title: string; given: object; says: RegExp; code?: number }[] = [
    {
      title: 'the trace',
      given: { expect: { trace: ['steps.0@1 shell ok "compile"', 'steps.1@1 condition -> else "$made.success"'] } },
      says: /trace: - expected \+ got\n.*\n.*- steps\.1@1 condition -> else.*\n.*\+ steps\.1@1 condition -> then/,
    },
    {
      title: 'the outcome',
      given: { expect: { outcome: 'failed' } },
      says: /outcome: expected "failed", got "completed"/,
    },
    {
      title: 'a failure nobody expects',
      given: { replies: { compile: { ok: false, failure: { code: 'SHELL_NOT_STARTED', message: 'no make' } } } },
      says: /outcome: expected "completed", got "failed"\n.*it failed: SHELL_NOT_STARTED .*no make/,
    },
    {
      title: 'an output',
      given: { expect: { outputs: { made: { exitCode: 1 } } } },
      says: /outputs: .*\n(.*\n)*.*- .*"exitCode": 1\n.*\+ .*"exitCode": 0/,
    },
    { title: 'an output that is not there', given: { expect: { outputs: { nothing: 1 } } }, says: /- .*"nothing": 1/ },
    {
      title: 'what was asked for',
      given: { expect: { effects: { 'steps.1.then.0@1': { event: 'blue' } } } },
      says: /- .*"event": "blue"\n.*\+ .*"event": "green"/,
    },
    { title: 'a problem that is not there', given: { expect: { problems: ['UNKNOWN_KEY'] } }, says: /problems: / },
    {
      title: 'a reply nobody asked for',
      given: { replies: { compil: { exitCode: 1 } }, expect: { outcome: 'stopped' } },
      says: /the reply "compil" was never asked for/,
    },
    {
      title: 'a definition with problems',
      given: { definition: { ...BUILD, colour: 1 } },
      says: /UNKNOWN_KEY at colour/,
      code: 2,
    },
    {
      title: 'a case that is not canonical and unchecked',
      given: { definition: { name: 'x' }, unchecked: true },
      says: /✖ one\.sentinel-test\.json {2}one.*\n.*the definition is not canonical \(steps: .*write it as "sentinel normalize" prints it/,
      code: 2,
    },
    { title: 'a key nobody knows', given: { expects: {} }, says: /Unrecognized key: "expects"/, code: 2 },
    {
      title: 'a reply that is not one',
      given: { replies: { compile: { ok: true, valeu: 1 } } },
      says: /replies\."compile": Unrecognized key: "valeu"/,
      code: 2,
    },
  ];

  const filtered = { ...BUILD, trigger: { type: 'event', event: 'git:push', filter: "$event.branch === 'main'" } };

  it.each([
    [{ branch: 'main' }, 0, /passed|✔/],
    [{ branch: 'other' }, 2, /the trigger's filter .* does not hold for the "cause": no run starts/],
  ])('is a cause that the filter of the trigger leaves out: %j', async (data, expected, says) => {
    write('one.sentinel-test.json', {
      definition: filtered,
      inputs: { target: 'all' },
      cause: { name: 'git:push', data },
      expect: { trace: LINES },
    });
    const { code, stdout } = await cli.run(['test', 'one.sentinel-test.json']);
    expect(stdout).toMatch(says);
    expect(code).toBe(expected);
  });

  it.each(cases)('$title', async ({ given, says, code = 1 }) => {
    write('one.sentinel-test.json', { definition: BUILD, inputs: { target: 'all' }, ...given });
    const { code: actual, stdout } = await cli.run(['test', 'one.sentinel-test.json']);
    expect(stdout).toMatch(says);
    expect(actual).toBe(code);
  });

  it('is expected problems where the case says so', async () => {
    write('one.sentinel-test.json', {
      definition: { ...BUILD, colour: 1 },
      expect: { problems: [{ code: 'UNKNOWN_KEY', path: 'colour' }] },
    });
    expect((await cli.run(['test', 'one.sentinel-test.json'])).code).toBe(0);
  });

  it('is a file that is no JSON', async () => {
    write('one.sentinel-test.json', '{"cases": ');
    const { code, stdout } = await cli.run(['test', '--json', 'one.sentinel-test.json']);
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as Document).files[0]?.mistakes[0]).toMatch(/cannot be read as JSON/);
  });
});

const greet = (line: string): object => ({
  name: 'greet-named',
  steps: [{ type: 'shell', command: line, outputTo: 'said' }],
  loop: { type: 'once' },
});

describe('definitions that a variable names', () => {
  const given = {
    name: 'outer',
    inputs: { chosen: 'greet-named' },
    steps: [{ type: 'sentinel', definition: { $ref: '$chosen' }, outputTo: 'child' }],
    loop: { type: 'once' },
  };

  it.each([
    ['beside the test', {}, 'echo hello'],
    ['of its library first', { library: { 'greet-named': greet('echo from the library') } }, 'echo from the library'],
  ])('are those %s', async (_title, more, line) => {
    write('greet-named.json', greet('echo hello'));
    write('one.sentinel-test.json', {
      definition: given,
      ...more,
      expect: { outcome: 'completed', effects: { 'steps.0@1/steps.0@1': { command: line } } },
    });
    const { code, stdout } = await cli.run(['test', 'one.sentinel-test.json']);
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  it('are found in what an earlier step answers, too', async () => {
    write('greet-named.json', greet('echo hello'));
    const steps = [
      { type: 'command', command: 'data/read', params: { collection: 'c', id: 'a' }, name: 'pick', outputTo: 'picked' },
      { type: 'sentinel', definition: { $ref: '$picked.definition' } },
    ];
    write('one.sentinel-test.json', {
      definition: { ...given, steps },
      replies: { pick: { definition: 'greet-named' } },
      expect: { outcome: 'completed' },
    });
    expect(await cli.run(['test', 'one.sentinel-test.json'])).toMatchObject({ code: 0 });
  });
});

describe('--watch', () => {
  it('runs the tests again when a file they read changes, until it is interrupted', async () => {
    mkdirSync(join(cli.folder, 'watched'), { recursive: true });
    write('watched/build.json', BUILD);
    write('watched/build.sentinel-test.json', { inputs: { target: 'all' }, expect: { trace: LINES } });
    const watching = cli.spawn(['test', 'watched', '--watch']);
    await watching.says(/1 passed, 0 failed in 1 file/);
    // The watch begins after the first report.
    await watching.repeat(
      () => write('watched/build.json', { ...BUILD, steps: BUILD.steps.slice(0, 1) }),
      /0 passed, 1 failed in 1 file/,
    );
    watching.interrupt();
    expect(await watching.ended).toBe(0);
  });
});

describe('--update', () => {
  it('writes what a new case gives, and mends what is named', async () => {
    write('one.sentinel-test.json', {
      definition: BUILD,
      inputs: { target: 'all' },
      cases: [
        { name: 'new' },
        {
          name: 'old',
          replies: { compile: { exitCode: 3 } },
          expect: { outcome: 'failed', failure: { code: 'X' }, outputs: { made: { exitCode: 0 } } },
        },
      ],
    });
    const { code, stderr } = await cli.run(['test', '--update', 'one.sentinel-test.json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'sentinel: one.sentinel-test.json: 2 cases rewritten\n' });
    expect(written('one.sentinel-test.json')).toMatchObject({
      inputs: { target: 'all' },
      cases: [
        { name: 'new', expect: { outcome: 'completed', trace: LINES } },
        { name: 'old', expect: { outcome: 'completed', outputs: { made: { exitCode: 3 } } } },
      ],
    });
    expect((written('one.sentinel-test.json') as { cases: { expect: object }[] }).cases[1]?.expect).not.toHaveProperty(
      'failure',
    );
    expect((await cli.run(['test', 'one.sentinel-test.json'])).code).toBe(0);
  });

  it('leaves a file alone whose cases pass', async () => {
    const before = readFileSync(join(cli.folder, 'sentinels/deep/build.sentinel-test.json'), 'utf8');
    await cli.run(['test', '--update', 'sentinels']);
    expect(readFileSync(join(cli.folder, 'sentinels/deep/build.sentinel-test.json'), 'utf8')).toBe(before);
  });
});

describe('--junit', () => {
  it('writes each case, and why it failed', async () => {
    write('one.sentinel-test.json', {
      definition: BUILD,
      cases: [{ name: 'a < b & "c"' }, { name: 'wrong', expect: { outcome: 'failed' } }],
    });
    expect((await cli.run(['test', '--junit', 'report.xml', 'one.sentinel-test.json'])).code).toBe(1);
    const xml = readFileSync(join(cli.folder, 'report.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="one.sentinel-test.json" tests="2" failures="1" errors="0"');
    expect(xml).toContain('<testcase name="a &lt; b &amp; &quot;c&quot;"');
    expect(xml).toMatch(/<failure message="outcome: expected &quot;failed&quot;, got &quot;completed&quot;">/);
  });
});
