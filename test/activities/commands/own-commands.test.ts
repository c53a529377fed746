/** Commands of a project as a worker performs them: whatever their code does, the step gets a result or a failure, and nobody else notices. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createRegistry, type Registry } from '../../../operations/registry.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { toolsFor } from '../../../activities/turns/turn-options.ts';
import type { Json } from '../../../language/json.ts';
import { runProjectConfig, trustedCode } from '../../../services/config/project-config.ts';
import { ownCommands } from '../../../runs/own/own-commands.ts';
import { LeftBehind } from '../../../world/processes/overtaken.ts';
import { OwnProcesses } from '../../../runs/own/own-processes.ts';
import { commandContext } from '../harness/command-context.ts';

type Over = Parameters<typeof commandContext>[1];

const CONFIG = String.raw`
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure, defineCommand, z } from 'sentinel-engine/commands';
import { word } from './lib/word.ts';

const own = (name, run, rest = {}) =>
  defineCommand({ name: 'own/' + name, permission: 'read', params: z.object({}), result: z.any(), run, ...rest });
const circle = {};
circle.self = circle;
const fail = (what) => () => { throw what(); };
const throws = z.any().refine(() => { throw new Error('the check broke'); });
const untilAborted = (signal, end) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(end())));
const begun = (project, name, work) => { writeFileSync(join(project, 'begun-' + name), ''); return work; };
let calls = 0;

export default {
  commands: [
    defineCommand({
      name: 'own/echo', permission: 'read',
      params: z.strictObject({ text: z.string(), times: z.number().default(2) }),
      result: z.object({ text: z.string(), key: z.string(), project: z.string(), attempt: z.number() }),
      run: ({ text, times }, { key, project, attempt }) => ({ text: text.repeat(times), key, project, attempt, more: 1 }),
    }),
    own('error', fail(() => new Error('no luck'))),
    own('word', fail(() => 'words')),
    own('rejection', () => Promise.reject(new TypeError('x is null'))),
    own('failure', fail(() => new CommandFailure('TRACKER_CLOSED', 'come back', { details: { at: 7 } }))),
    own('stated', fail(() => new CommandFailure('TRACKER_CLOSED', 'come back')), { failures: { TRACKER_CLOSED: 'It is closed' } }),
    own('not-stated', fail(() => new CommandFailure('TRACKER_GONE', 'it is gone', { details: { at: 7 } })), { failures: { TRACKER_CLOSED: 'It is closed' } }),
    own('code-of-sentinel', fail(() => new CommandFailure('STORE_UNAVAILABLE', 'x'))),
    own('no-code', fail(() => new CommandFailure('not a code', 'x', { details: circle }))),
    own('refused-result', () => 7, { result: z.string() }),
    own('circle', () => circle),
    own('big-integer', () => 7n),
    own('map', () => ({ of: new Map() })),
    own('no-number', () => ({ of: [Number.NaN] })),
    own('too-much', () => 'x'.repeat(9 * 1024 * 1024)),
    own('nothing', () => undefined),
    own('date', () => new Date(0)),
    own('result-check', () => 1, { result: throws }),
    own('params-check', () => 1, { params: z.object({ a: throws }) }),
    own('never', (_params, { project, signal }) => {
      signal.addEventListener('abort', () => writeFileSync(join(project, 'told'), String(signal.reason.message)));
      return new Promise(() => setInterval(() => undefined, 1000));
    }),
    own('rejects', (_params, { project, signal }) => begun(project, 'rejects', untilAborted(signal, () => Promise.reject(new Error('aborted'))))),
    own('tidies', (_params, { project, signal }) => begun(project, 'tidies', untilAborted(signal, () => 'tidied up'))),
    own('waits', () => new Promise((resolve) => setTimeout(() => resolve('done'), 2500))),
    own('loop', (_params, { project }) => { writeFileSync(join(project, 'looping'), String(process.pid)); for (;;); }),
    own('quick-loop', () => { for (;;); }, { speed: 'quick', timeoutMs: 500 }),
    own('loop-in-check', () => 1, { params: z.object({ a: z.any().refine(() => { for (;;); }) }) }),
    own('exit', () => { console.log('on its way out'); process.exit(3); }),
    own('exit-well', () => process.exit(0)),
    own('kill', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => undefined); }),
    own('late-error', () => new Promise(() => setTimeout(() => { throw new Error('nobody catches this'); }, 50))),
    own('fill', () => { for (const all = []; ; ) all.push(Array.from({ length: 10_000 }, (_, index) => ({ index }))); }),
    own('blocked', () => spawnSync('sleep', ['30'])),
    own('starts', () => { const { pid } = spawn('sleep', ['60'], { stdio: 'ignore' }); console.log(pid); return new Promise(() => undefined); }),
    own('leaves-timer', () => { setTimeout(() => { throw new Error('too late'); }, 300); return process.pid; }),
    own('queries', (_params, { tx }) => tx.query('select 1')),
    own('queries-anyway', (_params, { tx }) => tx.query('select 1').catch(({ message }) => message)),
    own('count', () => ({ calls: (calls += 1), pid: process.pid, word })),
    own('prints', () => { console.log('said'); console.error('complained'); console.log(process.env.OWN_API_KEY); return null; }),
    own('rejected-alone', async () => { Promise.reject(new Error('left alone')); await new Promise((r) => setTimeout(r, 20)); return 'fine'; }),
  ],
};
`;

let folder: string;
let processes: OwnProcesses;
let registry: Registry;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sentinel-own-'));
  mkdirSync(join(folder, 'lib'));
  writeFileSync(join(folder, 'lib', 'word.ts'), `export const word: string = 'as it was read';`);
  writeFileSync(join(folder, 'sentinel.config.ts'), CONFIG);
  process.env['NODE_OPTIONS'] = '--max-old-space-size=120';
  const code = trustedCode(join(folder, 'sentinel.config.ts'));
  processes = new OwnProcesses(code, () => undefined);
  registry = createRegistry(ownCommands((await runProjectConfig(code)).commands, processes));
  // What a process that is started later reads is not what was trusted.
  rmSync(join(folder, 'lib', 'word.ts'));
  writeFileSync(join(folder, 'lib', 'word.ts'), `export const word: string = 'changed';`);
});
afterAll(async () => {
  await processes.close();
  delete process.env['NODE_OPTIONS'];
  rmSync(folder, { recursive: true, force: true });
});

function perform(name: string, params: Json = {}, over: Over = {}): Promise<unknown> {
  return performIn(name, params, commandContext(folder, over));
}

const performIn = (name: string, params: Json, context: CommandContext): Promise<unknown> =>
  registry
    .run(`own/${name}`, params, context)
    .then((value) => ({ value }))
    .catch((error: unknown) => error);

/** A context whose log is collected by stream. */
function logged(over: Over = {}): { context: CommandContext; said: { stdout: string; stderr: string } } {
  const said = { stdout: '', stderr: '' };
  const context = commandContext(folder, over);
  const logs = {
    append(chunks: readonly { stream: string; text: string }[]) {
      for (const { stream, text } of chunks) said[stream as 'stdout' | 'stderr'] += text;
      return Promise.resolve();
    },
  };
  return { context: { ...context, store: { ...context.store, logs } as unknown as CommandContext['store'] }, said };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('it gets its parameters as its schema reads them, and where it is; its result is what its schema knows', async () => {
  const context = commandContext(folder);
  expect(await performIn('echo', { text: 'ab' }, context)).toEqual({
    value: { text: 'abab', key: `${context.run.handle}/${context.key}`, project: folder, attempt: 1 },
  });
  expect(await perform('echo', { text: 7, other: 1 })).toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
    details: { problems: [{ path: 'params.text' }, { path: 'params' }] },
  });
});

test('it is a tool with its own schema', () => {
  expect(toolsFor(registry, ['own/echo'])).toEqual([
    {
      name: 'own/echo',
      description: 'Runs the command own/echo.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string' }, times: { type: 'number', default: 2 } },
        required: ['text'],
        additionalProperties: false,
      },
    },
  ]);
});

const invalid = { code: 'COMMAND_RESULT_INVALID' };
const ended = (finding: string) => ({
  code: 'COMMAND_PROCESS_ENDED',
  message: expect.stringContaining(`its process ended before it had a result (${finding})`) as string,
});

test.each<[string, object]>([
  ['error', { code: 'ACTIVITY_FAILED', message: 'own/error: no luck' }],
  ['word', { code: 'ACTIVITY_FAILED', message: 'own/word: words' }],
  ['rejection', { code: 'ACTIVITY_FAILED' }],
  ['failure', { code: 'TRACKER_CLOSED', message: 'own/failure: come back', details: { at: 7 } }],
  ['stated', { code: 'TRACKER_CLOSED', message: 'own/stated: come back' }],
  [
    'not-stated',
    {
      code: 'FAILURE_NOT_STATED',
      message:
        'own/not-stated: it is gone (it failed with the code "TRACKER_GONE", which the command "own/not-stated" does not state; add it to "failures" of its defineCommand)',
      details: { at: 7 },
    },
  ],
  ['code-of-sentinel', { code: 'ACTIVITY_FAILED' }],
  ['no-code', { code: 'ACTIVITY_FAILED', details: undefined }],
  ['refused-result', { ...invalid, message: expect.stringContaining('own/refused-result: result: ') as string }],
  ['circle', { ...invalid, message: expect.stringContaining('is a value that holds itself') as string }],
  ['big-integer', { ...invalid, message: expect.stringContaining('the result is the big integer 7') as string }],
  ['map', { ...invalid, message: expect.stringContaining('the result: "of" is a Map') as string }],
  ['no-number', { ...invalid, message: expect.stringContaining('the result: "of.0" is NaN') as string }],
  ['too-much', { code: 'VALUE_TOO_LARGE' }],
  ['nothing', { value: null }],
  ['date', { value: '1970-01-01T00:00:00.000Z' }],
  ['result-check', invalid],
  ['exit', ended('it ended with exit code 3')],
  ['exit-well', ended('it ended with exit code 0')],
  ['kill', ended('SIGKILL ended it')],
  ['late-error', ended('it ended with exit code 1')],
  ['fill', ended('its memory ran out')],
  ['rejected-alone', { value: 'fine' }],
])('own/%s', async (name, outcome) => {
  expect(await perform(name)).toMatchObject(outcome);
});

test('a check of parameters that throws fails the step', async () => {
  expect(await perform('params-check', { a: 1 })).toMatchObject({
    code: 'ACTIVITY_FAILED',
    message: 'own/params-check: the check broke',
  });
});

/** As `pg` says that it cannot, and Postgres that it is about to end. */
const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const ending = Object.assign(new DatabaseError('terminating connection', 1, 'error'), { code: '57P01' });
const done = (): Promise<void> => Promise.resolve();
const withoutStore = (error: Error): Over => {
  const { session } = commandContext(folder);
  return { session: { ...session, mark: done, keep: done, takeBack: done, attempt: () => Promise.reject(error) } };
};

test.each([
  ['a database that is away', gone],
  ['one that ends', ending],
  ['another attempt at its step', new LeftBehind('another attempt has begun')],
])('it does not fail by %s, and is tried again', async (_what, error) => {
  expect(await perform('queries', {}, withoutStore(error))).toBe(error);
  expect(await perform('queries-anyway', {}, withoutStore(error))).toEqual({ value: error.message });
});

test('it fails by a statement that is wrong', async () => {
  const wrong = Object.assign(new DatabaseError('no such table', 1, 'error'), { code: '42P01' });
  expect(await perform('queries', {}, withoutStore(wrong))).toMatchObject({ code: 'STATEMENT_REFUSED' });
});

test('one that does not end is told, and left when its time is over', async () => {
  const { context, said } = logged({ timeoutMs: 100 });
  expect(await performIn('never', {}, context)).toMatchObject({
    code: 'STEP_TIMEOUT',
    message: 'own/never took longer than 100 ms; give the step more time',
  });
  expect(readFileSync(join(folder, 'told'), 'utf8')).toBe('own/never took longer than 100 ms');
  expect(said.stderr).toBe('');
});

test.each([
  ['loop', {}, 300],
  ['quick-loop', {}, 60_000],
  ['loop-in-check', { a: 1 }, 300],
  ['blocked', {}, 300],
])(
  'own/%s never comes back: it is ended in time, and others are performed meanwhile',
  async (name, params, timeoutMs) => {
    const looping = perform(name, params, { timeoutMs });
    expect(await perform('date')).toEqual({ value: '1970-01-01T00:00:00.000Z' });
    expect(await looping).toMatchObject({ code: 'STEP_TIMEOUT' });
    if (name === 'loop') expect(isAlive(Number(readFileSync(join(folder, 'looping'), 'utf8')))).toBe(false);
  },
);

test('a loop ends with the cancellation of its step', async () => {
  rmSync(join(folder, 'looping'), { force: true });
  const over = new AbortController();
  const reason = new Error('cancelled');
  const looping = perform('loop', {}, { signal: over.signal });
  await expect.poll(() => existsSync(join(folder, 'looping')), { timeout: 20_000 }).toBe(true);
  over.abort(reason);
  expect(await looping).toBe(reason);
  expect(isAlive(Number(readFileSync(join(folder, 'looping'), 'utf8')))).toBe(false);
});

test('what it has started ends with it', async () => {
  const { context, said } = logged({ timeoutMs: 500 });
  expect(await performIn('starts', {}, context)).toMatchObject({ code: 'STEP_TIMEOUT' });
  expect(Number(said.stdout)).toBeGreaterThan(0);
  await expect.poll(() => isAlive(Number(said.stdout)), { timeout: 5_000 }).toBe(false);
});

test.each([
  ['rejects', 'cancelled'],
  ['tidies', { value: 'tidied up' }],
])('one that is cancelled, own/%s', async (name, outcome) => {
  const over = new AbortController();
  const reason = new Error('cancelled');
  const coming = perform(name, {}, { signal: over.signal });
  await vi.waitUntil(() => existsSync(join(folder, `begun-${name}`)), { timeout: 60_000 });
  over.abort(reason);
  const came = await coming;
  if (outcome === 'cancelled') expect(came).toBe(reason);
  else expect(came).toEqual(outcome);
});

test('while it works the server hears that it is alive', async () => {
  let beats = 0;
  expect(await perform('waits', {}, { heartbeat: () => (beats += 1) })).toEqual({ value: 'done' });
  expect(beats).toBeGreaterThan(0);
});

test('a process is used again, unless something of a command may still go on in it; its code is what was read first', async () => {
  const first = (await perform('count')) as { value: { calls: number; pid: number; word: string } };
  expect(first.value.word).toBe('as it was read');
  expect(await perform('count')).toEqual({ value: { ...first.value, calls: first.value.calls + 1 } });
  const left = (await perform('leaves-timer')) as { value: number };
  const after = await Promise.all([perform('waits'), perform('waits'), perform('count')]);
  expect(after).toMatchObject([{ value: 'done' }, { value: 'done' }, { value: { word: 'as it was read' } }]);
  expect(isAlive(left.value)).toBe(false);
});

test('what it prints, and where its error was thrown, is in the log of its step', async () => {
  const printing = logged();
  expect(await performIn('prints', {}, printing.context)).toEqual({ value: null });
  expect(printing.said).toEqual({ stdout: 'said\nundefined\n', stderr: 'complained\n' });
  const failing = logged();
  await performIn('error', {}, failing.context);
  expect(failing.said.stderr).toMatch(/^Error: no luck\n\s+at .*sentinel\.config\.ts:\d+/);
  const refusing = logged();
  await performIn('failure', {}, refusing.context);
  expect(refusing.said).toEqual({ stdout: '', stderr: '' });
  const late = logged();
  const failure = await performIn('late-error', {}, late.context);
  expect(late.said.stderr).toContain('nobody catches this');
  expect(failure).toMatchObject({ details: { stderr: expect.stringContaining('nobody catches this') as string } });
  const alone = logged();
  await performIn('rejected-alone', {}, alone.context);
  expect(alone.said.stderr).toContain('a promise that nobody waited for was rejected: Error: left alone');
});
