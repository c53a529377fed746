/** `sentinel simulate`: what would be touched, whether it may, and that nothing is. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SimulationReport } from '../../../authoring/simulate/simulate.ts';
import { buildCli, type BuiltCli, type Finished } from './built-cli.ts';

let cli: BuiltCli;

const command = (name: string, params: object, more: object = {}): object => ({
  type: 'command',
  command: name,
  params,
  ...more,
});
const definition = (steps: object[], more: object = {}): object => ({
  name: 'case',
  steps,
  loop: { type: 'once' },
  ...more,
});

function simulate(given: object, ...args: string[]): Promise<Finished> {
  writeFileSync(join(cli.folder, 'case.json'), JSON.stringify(given));
  return cli.run(['simulate', 'case.json', '--project', 'project', ...args]);
}

async function report(given: object, ...args: string[]): Promise<SimulationReport> {
  const { code, stdout, stderr } = await simulate(given, '--json', ...args);
  expect(stderr).toBe('');
  const document = JSON.parse(stdout) as SimulationReport;
  expect(code).toBe(document.ok ? 0 : 1);
  return document;
}

const writeDefinition = (name: string, steps: object[]): void =>
  writeFileSync(join(cli.folder, `${name}.json`), JSON.stringify({ ...definition(steps), name }));

const step = ({ steps }: SimulationReport, key: string): SimulationReport['steps'][number] | undefined =>
  steps.find((one) => one.key === key);

beforeAll(async () => {
  cli = await buildCli();
  mkdirSync(join(cli.folder, 'project'));
  writeFileSync(join(cli.folder, 'project', 'a.txt'), 'one\ntwo\n');
  symlinkSync('/etc', join(cli.folder, 'project', 'link'));
});

/** Nothing is ever touched. */
beforeEach(() => {
  return () => {
    expect(readdirSync(join(cli.folder, 'project')).toSorted()).toEqual(['a.txt', 'link']);
    expect(readFileSync(join(cli.folder, 'project', 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(readdirSync(cli.folder)).not.toContain('home');
  };
});

afterAll(() => cli.remove());

describe('the shipped definitions', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'sentinels');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.schema|\.sentinel-test)\.json$/.test(file),
  );

  it.each(files)('%s is walked through with nothing denied', async (file) => {
    const { code, stdout } = await cli.run(['simulate', '--json', '--project', 'project', join(folder, file)]);
    const document = JSON.parse(stdout) as SimulationReport;
    expect({ code, ok: document.ok, cut: document.warnings.filter((warning) => warning.code === 'CUT') }).toEqual({
      code: 0,
      ok: true,
      cut: [],
    });
    expect(document.steps.length).toBeGreaterThan(0);
  });
});

describe('a file of replies', () => {
  it.each([
    [
      'some other file',
      { type: 'object', properties: { a: {} } },
      /--replies replies\.json: nothing asked for "type", "properties"; a reply stands under a step's key.*steps\.0@1 \(make all\)/,
    ],
    [
      'a reply that is none',
      { 'steps.0@1': { ok: true, valeu: 1 } },
      /replies\."steps\.0@1": Unrecognized key: "valeu"/,
    ],
    ['a list', [1], /does not hold an object/],
  ])('refuses --replies that hold %s', async (_title, replies, says) => {
    writeFileSync(join(cli.folder, 'replies.json'), JSON.stringify(replies));
    const { code, stdout, stderr } = await simulate(
      definition([{ type: 'shell', command: 'make all' }]),
      '--replies',
      'replies.json',
    );
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('effects', () => {
  it('reads from the project and writes over it, in memory', async () => {
    const simulated = await report(
      definition([
        command('code/read', { path: 'a.txt' }, { outputTo: 'old' }),
        command('code/write', { path: './a.txt', content: '$old.content' }),
        command('code/write', { path: 'a.txt', content: 'one\nthree\n' }),
        command('code/write', { path: 'deep/new.txt', content: 'new\n' }),
        command('code/read', { path: 'deep/new.txt' }, { outputTo: 'new' }),
        command('code/write', { path: 'same.txt', content: '' }),
        command('code/read', { path: 'none.txt' }, { onError: 'skip' }),
      ]),
    );
    expect(simulated.steps.map(({ effect }) => effect)).toEqual([
      'reads a.txt (8 bytes)',
      'leaves as it is: ./a.txt (8 bytes)',
      'changes a.txt (10 bytes)',
      'creates deep/new.txt (4 bytes)',
      'reads deep/new.txt (4 bytes)',
      'creates same.txt (0 bytes)',
      'code/read none.txt',
    ]);
    expect(simulated.outputs).toMatchObject({ new: { content: 'new\n' } });
    expect(simulated.files.map(({ path, change }) => `${path} ${change}`)).toEqual([
      'a.txt changed',
      'deep/new.txt created',
      'same.txt created',
    ]);
    expect(simulated.files[0]?.diff).toBe('--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three');
    expect(step(simulated, 'steps.6@1')).toMatchObject({
      verdict: 'allowed',
      outcome: 'skipped',
      failure: { code: 'FILE_NOT_FOUND' },
    });
  });

  it('keeps records, runs no command line, and walks nested runs', async () => {
    const simulated = await report(
      definition([
        command('data/create', { collection: 'c', data: { n: 1 } }),
        command('data/create', { collection: 'c', data: { n: 2 } }),
        command('data/list', { collection: 'c', filter: { n: 2 } }, { outputTo: 'found' }),
        {
          type: 'sentinel',
          definition: definition([{ type: 'shell', command: 'touch $PROJECT_ROOT/x', outputTo: 'ran' }]),
          outputTo: 'child',
        },
        { type: 'emit', event: 'e' },
      ]),
    );
    expect(simulated).toMatchObject({
      ok: true,
      outcome: 'completed',
      outputs: { found: [{ n: 2 }], child: { success: true } },
    });
    expect(step(simulated, 'steps.3@1/steps.0@1')).toMatchObject({
      permission: 'shell',
      effect: `runs touch ${simulated.project}/x`,
      source: 'assumed',
    });
  });

  it('answers from --replies, and says which nobody asked for', async () => {
    writeFileSync(join(cli.folder, 'replies.json'), JSON.stringify({ 'shell make *': { exitCode: 2 }, nobody: 1 }));
    const check = {
      type: 'condition',
      check: '$made.success',
      then: [{ type: 'emit', event: 'y' }],
      else: [{ type: 'emit', event: 'n' }],
    };
    const simulated = await report(
      definition([{ type: 'shell', command: 'make all', outputTo: 'made' }, check]),
      '--replies',
      'replies.json',
    );
    expect(step(simulated, 'steps.0@1')).toMatchObject({ source: 'replies' });
    expect(step(simulated, 'steps.1@1')).toMatchObject({ branch: 'else' });
    expect(simulated.unused).toEqual(['nobody']);
  });
});

describe('where it ends', () => {
  it('ends where the run would wait for others', async () => {
    const pass = [{ type: 'emit', event: 'seen' }];
    const simulated = await report({ ...definition(pass), loop: { type: 'event', event: 'file:changed', max: 3 } });
    expect(simulated).toMatchObject({
      ok: true,
      outcome: 'stopped',
      warnings: [{ code: 'WAITS', message: expect.stringContaining('"file:changed"') as string }],
    });
    const inner = { type: 'loop', loop: { type: 'event', event: 'x:*', max: 2 }, steps: pass };
    const nested = await report(
      definition([
        { type: 'emit', event: 'x:1' },
        { type: 'sentinel', definition: definition([inner]) },
      ]),
    );
    expect(nested.warnings).toMatchObject([
      { code: 'WAITS', key: expect.stringMatching(/^steps\.1@1\/steps\.0\b/) as string },
    ]);
  });

  it('ends what goes round too long', async () => {
    const simulated = await report({
      ...definition([{ type: 'emit', event: 'e' }]),
      loop: { type: 'continuous', max: 5000 },
    });
    expect(simulated.warnings.map(({ code }) => code)).toContain('CUT');
    expect(simulated.outcome).toBe('stopped');
  });
});

describe('definitions that a variable gives', () => {
  const given = { type: 'sentinel', definition: '$chosen', outputTo: 'child' };

  beforeAll(() => {
    writeDefinition('greet', [{ type: 'shell', command: 'echo hello', outputTo: 'said' }]);
    writeDefinition('greet-twice', [
      { type: 'sentinel', definition: { $ref: 'greet' } },
      { type: 'sentinel', definition: { $ref: 'greet' } },
    ]);
  });

  it.each([
    ['a name in an input', 'chosen=greet'],
    ['a name in a default', undefined, { inputs: { chosen: 'greet' } }],
    ['the object of a reference', 'chosen={"$ref": "greet"}'],
    ['a definition', 'chosen={"name": "drafted", "steps": [{"type": "shell", "command": "echo hello"}]}'],
    ['steps as JSON text', 'chosen=[{"type": "shell", "command": "echo hello"}]'],
  ])('%s', async (_title, input?: string, more: object = {}) => {
    const simulated = await report(definition([given], more), ...(input === undefined ? [] : ['--input', input]));
    expect(simulated).toMatchObject({ ok: true, outcome: 'completed', outputs: { child: { success: true } } });
    expect(step(simulated, 'steps.0@1/steps.0@1')).toMatchObject({ effect: 'runs echo hello', permission: 'shell' });
  });

  it('are found by the name that an earlier step answers, with all that they refer to', async () => {
    writeFileSync(
      join(cli.folder, 'replies.json'),
      JSON.stringify({ pick: { definition: 'greet-twice' }, greet: { ok: true, value: { said: 'hello' } } }),
    );
    const simulated = await report(
      definition([
        { ...command('data/read', { collection: 'c', id: 'a' }), name: 'pick', outputTo: 'picked' },
        { type: 'sentinel', definition: { $ref: '$picked.definition' } },
      ]),
      '--replies',
      'replies.json',
    );
    expect(simulated).toMatchObject({ outcome: 'completed', unused: [] });
    expect(step(simulated, 'steps.1@1/steps.0@1')).toMatchObject({ source: 'replies', outcome: 'ok' });
    expect(step(simulated, 'steps.1@1/steps.1@1')).toMatchObject({ source: 'replies', outcome: 'ok' });
    const walked = await report(
      definition([{ type: 'sentinel', definition: '$chosen' }]),
      '--input',
      'chosen=greet-twice',
    );
    expect(step(walked, 'steps.0@1/steps.1@1/steps.0@1')).toMatchObject({ effect: 'runs echo hello' });
  });

  it('fail the step where there is none of that name', async () => {
    const simulated = await report(definition([given]), '--input', 'chosen=nowhere');
    expect(simulated).toMatchObject({ outcome: 'failed', failure: { code: 'UNKNOWN_DEFINITION' } });
  });

  it('keep to the mode of the run around them', async () => {
    const simulated = await report(definition([given], { mode: 'readonly' }), '--input', 'chosen=greet');
    expect(step(simulated, 'steps.0@1/steps.0@1')).toMatchObject({ verdict: 'denied' });
  });
});

it('walks through nothing that gives a command what it does not take', async () => {
  const { code, stdout, stderr } = await simulate(definition([command('code/read', { pth: 'x' })]), '--json');
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    problems: [
      { code: 'MISSING_KEY', path: 'steps.0.params.path' },
      { code: 'UNKNOWN_KEY', path: 'steps.0.params.pth', file: 'case.json', line: 1 },
    ],
  });
  expect(stderr).toContain('the parameter "pth" is not taken');
});

describe('verdicts', () => {
  const write = command('code/write', { path: 'x', content: '' }, { onError: 'skip' });
  const cases: { title: string; given: object; key?: string; says: object }[] = [
    { title: 'a plain step', given: definition([write]), says: { verdict: 'allowed', permission: 'write' } },
    {
      title: 'writing in a readonly run',
      given: definition([write], { mode: 'readonly' }),
      says: { verdict: 'denied', why: expect.stringContaining('readonly') as string },
    },
    {
      title: 'a shell in a readonly run',
      given: definition([{ type: 'shell', command: 'ls', onError: 'skip' }], { mode: 'readonly' }),
      says: { verdict: 'denied' },
    },
    {
      title: 'reading in a readonly run',
      given: definition([command('code/read', { path: 'a.txt' })], { mode: 'readonly' }),
      says: { verdict: 'allowed' },
    },
    {
      title: 'a nested run of a readonly one',
      given: definition([{ type: 'sentinel', definition: definition([write]) }], { mode: 'readonly' }),
      key: 'steps.0@1/steps.0@1',
      says: { verdict: 'denied' },
    },
    {
      title: 'a shell in a sandboxed run',
      given: definition([{ type: 'shell', command: 'ls' }], { mode: 'sandboxed' }),
      says: { verdict: 'allowed', sandboxed: true },
    },
    {
      title: 'what needs an approval',
      given: definition([write], { safety: { requireApproval: ['write'] } }),
      says: { verdict: 'needs approval', outcome: 'ok' },
    },
    {
      title: 'an edit of another run, where anything needs an approval',
      given: definition([command('sentinel/step/remove', { sentinelId: 'another', index: 0 })], {
        safety: { requireApproval: ['delete'] },
      }),
      says: { verdict: 'needs approval', permission: 'write' },
    },
    {
      title: 'an approval',
      given: definition([{ type: 'approval', message: 'Go on?' }]),
      says: { verdict: 'needs approval', outcome: 'ok' },
    },
    {
      title: 'a path out of the project',
      given: definition([command('code/read', { path: '../x' }, { onError: 'skip' })]),
      says: { verdict: 'denied', failure: { code: 'PATH_OUTSIDE_PROJECT' } },
    },
    {
      title: 'a path through a link',
      given: definition([command('code/write', { path: 'link/x', content: '' }, { onError: 'skip' })]),
      says: { verdict: 'denied' },
    },
    {
      title: 'a folder out of the project',
      given: definition([{ type: 'shell', command: 'ls', cwd: '/etc', onError: 'skip' }]),
      says: { verdict: 'denied' },
    },
  ];

  it.each(cases)('$title', async ({ given, key = 'steps.0@1', says }) => {
    expect(step(await report(given), key)).toMatchObject(says);
  });
});

describe('what people see', () => {
  it('is a table, the files, what was denied, and how it would end', async () => {
    const { code, stdout } = await simulate(
      definition([command('code/write', { path: 'a.txt', content: 'one\n' }), command('code/read', { path: '../x' })]),
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^KEY +STEP +PERMISSION +VERDICT +WOULD\nsteps\.0@1 +command code\/write +write +allowed +changes a\.txt \(4 bytes\)\n/,
    );
    expect(stdout).toContain('a.txt would be changed\n  --- a.txt\n');
    expect(stdout).toMatch(/denied steps\.1@1: .*leads out of the project/);
    expect(stdout).toMatch(
      /the run would end failed: PATH_OUTSIDE_PROJECT .* 1 denied, 0 to approve\. Nothing was touched\.\n$/,
    );
  });

  it.each([
    [['simulate', 'none.json'], /none\.json/],
    [['simulate', 'loose.json'], /UNBOUNDED_LOOP/],
    [['simulate', 'case.json', '--replies', 'none.json'], /--replies none\.json cannot be read/],
    [['simulate', 'case.json', '--project', 'none'], /--project none does not exist/],
  ])('%j is refused', async (args, says) => {
    writeFileSync(join(cli.folder, 'case.json'), JSON.stringify(definition([{ type: 'emit', event: 'e' }])));
    writeFileSync(
      join(cli.folder, 'loose.json'),
      JSON.stringify({ ...definition([{ type: 'emit', event: 'e' }]), loop: { type: 'while', check: 'true' } }),
    );
    const { code, stderr } = await cli.run(args);
    expect(stderr).toMatch(says);
    expect(code).toBe(2);
  });
});
