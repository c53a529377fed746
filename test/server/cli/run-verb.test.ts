/**
 * The verbs that start, watch and steer a run, as processes: what they print, where, and the exit
 * code that scripts are written against.
 */
import { spawn } from 'node:child_process';
import { once as emitted } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { CLI, Harness, until, type Said } from '../harness/harness.ts';
import { isAlive } from '../harness/opened.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  // Their worker is the one that serves the runs below.
  expect(await documentOf('up')).toMatchObject({
    ok: true,
    temporal: { isExternal: true },
    postgres: { isExternal: true },
  });
});
afterAll(() => harness.close());

interface Started {
  said: Promise<Said>;
  /** Ctrl-C, as the terminal says it. */
  interrupt(): void;
  err(): string;
}

function launch(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: harness.project,
    env: { ...process.env, ...harness.env, USER: 'ada', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const said = emitted(child, 'close').then(([code]: (number | null)[]) => ({ code: code ?? -1, out, err }));
  return { said, interrupt: () => child.kill('SIGINT'), err: () => err };
}

const sentinel = (...args: string[]): Promise<Said> => launch(args).said;
const linesOf = ({ out }: Said): JsonObject[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
const reportOf = (said: Said): JsonObject => linesOf(said).at(-1) ?? {};
const documentOf = async (...args: string[]): Promise<JsonObject> =>
  JSON.parse((await sentinel(...args, '--json')).out) as JsonObject;

function write(definition: Definition): string {
  const file = `${definition.name}.json`;
  writeFileSync(join(harness.project, file), JSON.stringify(definition));
  return file;
}

const started = (handle: string, key = 'steps.0@1'): Promise<void> =>
  until(async () => (await harness.store.runs.find(handle)) !== null).then(() =>
    harness.untilEvent(handle, (event) => event.type === 'step-started' && event.key === key),
  );

const asks = once('asks', [{ type: 'approval', message: 'Go on?' }, shell('true')]);
/** Ends once the project holds a file of that name. */
const waitsFor = (name: string): Step => shell(`while [ ! -e ${name} ]; do sleep 0.1; done`);
const sleeper = (name: string): Definition => once(name, [shell(`echo $$ > ${name}.pid; sleep 60`), shell('true')]);
const pidOf = async (name: string): Promise<number> => {
  const file = join(harness.project, `${name}.pid`);
  await until(() => existsSync(file) && readFileSync(file, 'utf8').trim() !== '');
  return Number(readFileSync(file, 'utf8'));
};

describe('run', () => {
  test('shows the run, and ends with its report', async () => {
    writeFileSync(join(harness.project, 'large.txt'), 'x'.repeat(100_000));
    writeFileSync(join(harness.project, 'inputs.json'), '{"name": "from the file", "kept": [1]}');
    const read: Definition['steps'][number] = {
      type: 'command',
      command: 'code/read',
      params: { path: 'large.txt' },
      outputTo: 'large',
    };
    const nested = once('inside', [shell('echo nested')]);
    const file = write(
      once(
        'shown',
        [
          shell('pwd', { outputTo: 'place' }),
          read,
          { type: 'parallel', branches: [[shell('echo beside')], [{ type: 'sentinel', definition: nested }]] },
        ],
        { inputs: { name: '', count: 0, quoted: '', kept: [] } },
      ),
    );
    const said = await sentinel(
      'run',
      file,
      '--id',
      'shown',
      '--input-file',
      'inputs.json',
      '--input',
      'name=Ada',
      '--input',
      'count=3',
      '--input',
      'quoted="3"',
      '--persona',
      'grace',
      '--json',
    );
    expect(said).toMatchObject({ code: 0, err: '' });
    const report = reportOf(said);
    expect(Object.keys(report)).toEqual([
      'handle',
      'status',
      'outcome',
      'outputs',
      'iterations',
      'durationMs',
      'webUrl',
    ]);
    expect(report).toMatchObject({
      handle: 'shown',
      status: 'completed',
      outcome: 'completed',
      iterations: 1,
      outputs: {
        large: {
          $payload: expect.any(String) as string,
          bytes: expect.any(Number) as number,
          preview: expect.stringContaining('xxx') as string,
        },
      },
    });
    expect((report['outputs'] as { place: { stdout: string } }).place.stdout.trim()).toBe(harness.project);
    expect(report['webUrl']).toContain('sentinel%2Fshown');
    expect(await documentOf('status', 'shown')).toMatchObject({
      persona: 'grace',
      project: harness.project,
      inputs: { name: 'Ada', count: 3, quoted: '3', kept: [1] },
    });
    const shownToPeople = await sentinel('follow', 'shown');
    expect(shownToPeople).toMatchObject({ code: 0, err: '' });
    expect(shownToPeople.out).toMatch(
      /^✔ steps\.0@1 {2}shell pwd {2}ok {2}[\d.]+ m?s\n[^]*handle: shown\n {2}web: http/m,
    );
    expect(shownToPeople.out).toMatch(/^ {2}✔ steps\.2\.branches\.0\.0@1 {2}shell echo beside/m);
    expect(shownToPeople.out).toMatch(/^ {4}✔ steps\.0@1 {2}shell echo nested/m);
    expect(await sentinel('run', file, '--id', 'shown')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('"shown" is taken') as string,
    });
  });

  test('--detach prints the handle and returns', async () => {
    const said = await sentinel('run', write(sleeper('left')), '--id', 'left', '--detach');
    expect(said).toEqual({ code: 0, out: 'left\n', err: '' });
    expect(await documentOf('status', 'left')).toMatchObject({ status: 'running', outcome: null });
    await harness.workflow('left').cancel();
  });

  test.each<[string, Definition, number, JsonObject]>([
    [
      'a step that fails',
      once('fails', [{ type: 'command', command: 'code/read', params: { path: 'none' } }]),
      1,
      { outcome: 'failed', failure: { code: 'FILE_NOT_FOUND' } },
    ],
    [
      'a limit',
      once('limited', [shell('true')], { loop: { type: 'until', check: 'false', maxIterations: 2 } }),
      1,
      { outcome: 'stopped', limit: 'maxIterations', iterations: 2 },
    ],
    [
      'a command that is not built',
      once('ahead', [{ type: 'command', command: 'genome/train-voice' }]),
      1,
      { outcome: 'failed', failure: { code: 'COMMAND_NOT_BUILT' } },
    ],
    ['a question', asks, 3, { status: 'paused', outcome: null }],
  ])(
    '%s',
    async (_what, definition, code, report) => {
      const said = await sentinel('run', write(definition), '--json');
      expect({ code: said.code, report: reportOf(said) }).toMatchObject({ code, report });
    },
    30_000,
  );
});

describe('Ctrl-C', () => {
  test('says how to re-attach, and leaves the run alone', async () => {
    const running = launch(['run', write(sleeper('interrupted-once')), '--id', 'interrupted-once']);
    const pid = await pidOf('interrupted-once');
    running.interrupt();
    const said = await running.said;
    expect(said).toMatchObject({
      code: 0,
      err: expect.stringContaining('"sentinel follow interrupted-once" re-attaches') as string,
    });
    expect(isAlive(pid)).toBe(true);
    const followed = launch(['follow', 'interrupted-once']);
    expect((await sentinel('cancel', 'interrupted-once')).code).toBe(0);
    expect((await followed.said).code).toBe(130);
    expect(isAlive(pid)).toBe(false);
  });

  test('said twice cancels the run', async () => {
    const running = launch(['run', write(sleeper('interrupted-twice')), '--id', 'interrupted-twice', '--json']);
    const pid = await pidOf('interrupted-twice');
    running.interrupt();
    await until(() => running.err().includes('Press Ctrl-C again'));
    running.interrupt();
    const said = await running.said;
    expect({ code: said.code, report: reportOf(said) }).toMatchObject({
      code: 130,
      report: { status: 'cancelled', outcome: 'cancelled' },
    });
    expect(isAlive(pid)).toBe(false);
  });
});

describe('steering', () => {
  test('pause, resume and stop', async () => {
    const open = (name: string): void => writeFileSync(join(harness.project, name), '');
    await harness.start(
      once('steered-by-verbs', [
        waitsFor('go'),
        create('steered-by-verbs', { n: 1 }),
        waitsFor('stopped'),
        create('steered-by-verbs', { n: 2 }),
      ]),
      { handle: 'steered-by-verbs' },
    );
    await started('steered-by-verbs');
    expect(await documentOf('pause', 'steered-by-verbs')).toMatchObject({
      ok: true,
      handle: 'steered-by-verbs',
      status: 'paused',
    });
    await until(async () => (await documentOf('status', 'steered-by-verbs'))['reason'] === 'a person paused it');
    expect((await sentinel('status', 'steered-by-verbs')).out).toContain('held: a person paused it');
    open('go');
    expect(await sentinel('follow', 'steered-by-verbs')).toMatchObject({
      code: 3,
      err: expect.stringContaining('sentinel resume steered-by-verbs') as string,
    });
    expect(await harness.rows('steered-by-verbs')).toEqual([]);
    expect(await documentOf('resume', 'steered-by-verbs')).toMatchObject({ ok: true, status: 'running' });
    await started('steered-by-verbs', 'steps.2@1');
    expect(await documentOf('stop', 'steered-by-verbs')).toMatchObject({ ok: true, stopping: true });
    open('stopped');
    expect((await sentinel('follow', 'steered-by-verbs')).code).toBe(130);
    expect(await documentOf('status', 'steered-by-verbs')).not.toHaveProperty('reason');
    expect(await harness.rows('steered-by-verbs')).toEqual([{ n: 1 }]);
    expect(
      (await harness.events('steered-by-verbs')).find(
        (event) => event.type === 'step-finished' && event.key === 'steps.2@1',
      ),
    ).toMatchObject({ outcome: 'ok' });
  });

  test.each(['pause', 'resume', 'stop', 'cancel', 'status', 'trace', 'logs', 'follow'])(
    '%s: no such run',
    async (verb) => {
      const said = await sentinel(verb, 'nobody', '--json');
      expect(said).toMatchObject({
        code: 4,
        err: expect.stringMatching(/^sentinel: There is no run "nobody": "sentinel list" shows/) as string,
      });
      expect(linesOf(said)).toMatchObject([{ ok: false, error: { code: 'RUN_NOT_FOUND' } }]);
    },
  );

  test.each(['pause', 'resume', 'stop', 'cancel'])('%s: a run that has ended', async (verb) => {
    if ((await harness.store.runs.find('verb-over')) === null)
      await harness.run(once('over', [shell('true')]), { handle: 'verb-over' });
    expect(await sentinel(verb, 'verb-over')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`nothing to ${verb}`) as string,
    });
  });
});

describe('looking', () => {
  beforeAll(async () => {
    await harness.run(once('seen', [shell('echo one; echo two; echo three >&2')]), { handle: 'seen' });
  });

  test('list', async () => {
    const all = JSON.parse((await sentinel('list', '--status', 'completed', '--json')).out) as JsonObject[];
    expect(all).toContainEqual(expect.objectContaining({ handle: 'seen', name: 'seen', status: 'completed' }));
    expect(all.every(({ status }) => status === 'completed')).toBe(true);
    expect((await sentinel('list')).out).toMatch(/^seen +seen +completed/m);
  });

  test('trace', async () => {
    expect(await sentinel('trace', 'seen')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^✔ steps\.0@1 {2}shell echo one/m) as string,
    });
    expect(await documentOf('trace', 'seen')).toMatchObject({
      handle: 'seen',
      events: expect.arrayContaining([expect.objectContaining({ type: 'run-finished' })]) as unknown,
    });
  });

  test('logs', async () => {
    const of = { handle: 'seen', key: 'steps.0@1' };
    expect(await documentOf('logs', 'seen', '--stream', 'stderr')).toMatchObject({
      handle: 'seen',
      stream: 'stderr',
      lines: [{ ...of, stream: 'stderr', text: 'three' }],
    });
    expect((await sentinel('logs', 'seen', '--stream', 'stdout', '--lines', '1')).out).toBe('two\n');
    expect(linesOf(await sentinel('logs', 'seen', '--stream', 'stdout', '--follow', '--json'))).toMatchObject([
      { ...of, stream: 'stdout', text: 'one' },
      { ...of, stream: 'stdout', text: 'two' },
    ]);
  });

  test('doctor, with the database away', async () => {
    const said = await launch(['doctor', '--json'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }).said;
    expect(said).toMatchObject({ code: 1, err: '' });
    const { entries } = JSON.parse(said.out) as {
      entries: { name: string; ok: boolean; found: string; remedy?: string }[];
    };
    expect(entries.find(({ name }) => name === 'postgres')).toMatchObject({
      ok: false,
      found: expect.stringContaining('does not answer') as string,
      remedy: expect.stringContaining('runs wait until it is back') as string,
    });
    expect(entries.find(({ name }) => name === 'temporal server')).toMatchObject({ ok: true });
  });
});
