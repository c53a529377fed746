/**
 * A definition that writes to the terminal: its name, its steps, what it asks, emits and prints hold escape
 * sequences, marks that turn the direction of text, and characters that are not seen. Every verb shows them
 * as escapes, with our own colours and without, and its JSON holds none of them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once as emitted } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { CLI, Harness, until } from '../harness/harness.ts';
import { ModelDouble } from '../harness/models/model-double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';

/** Red, the window's title, the clipboard, the start of the line, C1, directions, nothing to be seen, a line of its own. */
const HOSTILE =
  'a\u001B[35mb\u001B]0;title\u0007c\u001B]52;c;ZXZpbA==\u001B\\d\re\bf\u009B2Jg\u0085h\u202Ei\u202Cj\u2066k\u2069l\u200Bm\u200Fn\uFEFFo\u00ADp\u2028q\u{E0041}r\n? steps.9@1 asks ada: forged';
const UNSEEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u;
const OUR_COLOURS = new RegExp(`${String.fromCharCode(27)}\\[(?:1|2|22|3[123]|39)m`, 'g');

let harness: Harness;
let double: ModelDouble;
beforeAll(async () => {
  harness = await Harness.open();
  double = await new ModelDouble().open();
  await harness.startWorker(double.env);
  const { project } = harness;
  const put = (name: string, value: object): void => writeFileSync(join(project, name), JSON.stringify(value));
  put('hostile.json', definition);
  put('broken.json', {
    ...definition,
    [HOSTILE]: 1,
    steps: [{ type: HOSTILE }, { type: 'command', command: HOSTILE }],
  });
  put('triggered.json', { ...definition, steps: [], trigger: { type: 'event', event: 'hostile:*' } });
  put('hostile.sentinel-test.json', {
    definition: './hostile.json',
    cases: [{ name: HOSTILE, replies: { [HOSTILE]: { ok: true } }, expect: { outputs: { [HOSTILE]: HOSTILE } } }],
  });
  execFileSync('git', ['init', '--quiet'], { cwd: project });
});
afterAll(async () => {
  await harness.close();
  await double.close();
});

const printed = `printf '%s' "$TEXT"; printf '%s' "$TEXT" >&2`;
const definition: Definition = once(
  HOSTILE,
  [
    shell(printed, { name: HOSTILE, env: { TEXT: HOSTILE }, outputTo: 'said' }),
    { type: 'emit', event: 'hostile:now', data: HOSTILE },
    { type: 'command', command: 'code/read', params: { path: HOSTILE }, name: HOSTILE, onError: 'skip' },
    {
      type: 'approval',
      message: HOSTILE,
      show: { [HOSTILE]: HOSTILE },
      form: { type: 'object', properties: { [HOSTILE]: { type: 'string', description: HOSTILE } } },
      outputTo: 'answered',
    },
    { type: 'command', command: 'code/read', params: { path: HOSTILE } },
  ],
  { description: HOSTILE },
);

interface Shown {
  args: readonly string[];
  code: number;
  out: string;
  err: string;
}

async function show(args: readonly string[], env: Record<string, string> = {}): Promise<Shown> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [CLI, ...args], {
    cwd: harness.project,
    env: { ...harness.env, ...double.env, USER: 'ada', ...env },
    reject: false,
    timeout: 60_000,
    stripFinalNewline: false,
  });
  return { args, code: exitCode ?? -1, out: stdout, err: stderr };
}

const seen = new Set<string>();

/** As people see it, in colours, and as programs do. */
async function walk(...args: string[]): Promise<Shown> {
  seen.add(args[0] ?? '');
  const human = await show(args, { FORCE_COLOR: '1' });
  for (const text of [human.out, human.err]) expect(plain(text), args.join(' ')).not.toMatch(UNSEEN);
  // All that `logs` prints was printed by a process.
  if (args[0] !== 'logs') expect(human.out + human.err, args.join(' ')).not.toMatch(/^\? steps\.9@1/m);
  return human;
}

async function walkBoth(...args: string[]): Promise<Shown> {
  const human = await walk(...args);
  const { out, err } = await show([...args, '--json']);
  for (const text of [out, err]) expect(text, `${args.join(' ')} --json`).not.toMatch(UNSEEN);
  expect(() => valuesIn(out), `${args.join(' ')} --json`).not.toThrow();
  return human;
}

const plain = (text: string): string => text.replaceAll(OUR_COLOURS, '');

/** One document, or one a line. */
function valuesIn(out: string): unknown[] {
  try {
    return [JSON.parse(out)];
  } catch {
    return out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  }
}

const isAsked = (handle: string): Promise<void> =>
  until(async () => (await harness.store.inbox.open(handle)).includes('steps.3@1'));

test('files: what is checked, explained, drawn, simulated and tested', async () => {
  for (const file of ['hostile.json', 'broken.json'])
    for (const verb of ['validate', 'normalize', 'explain', 'graph', 'simulate']) await walkBoth(verb, file);
  await walkBoth('test');
  await walkBoth('schema');
  await walkBoth('run', 'broken.json');
  await walkBoth('save', 'hostile.json');
  for (const words of [['list'], ['show', HOSTILE], ['delete', HOSTILE]]) await walkBoth('saved', ...words);
  expect((await walk('validate', 'broken.json')).out).toContain(String.raw`a\u001b[35mb\u001b]0;title\u0007c`);
  expect((await walk('explain', 'hostile.json')).out).toContain(String.raw`i\u202cj\u2066k\u2069l\u200bm`);
  const { out } = await show(['normalize', 'hostile.json']);
  expect((JSON.parse(out) as Definition).name).toBe(HOSTILE);
});

test('runs: what is followed, shown, compared, asked and answered', async () => {
  const asked = await walk('run', 'hostile.json', '--id', 'first');
  expect(asked).toMatchObject({ code: 3 });
  expect(plain(asked.out)).toContain(String.raw`h\u202ei\u202cj`);
  await walkBoth('follow', 'first');
  await harness.start(definition, { handle: 'second' });
  await isAsked('second');
  const lease = { kind: 'command', project: HOSTILE, name: HOSTILE, capacity: 1, whenHeld: 'wait' } as const;
  for (const key of [HOSTILE, 'steps.1@1'])
    await harness.store.leases.ask({ ...lease, handle: 'second', step: { key, claim: HOSTILE, aliveMs: 600_000 } });
  await walkBoth('leases');
  await walkBoth('status', 'second');
  for (const verb of ['status', 'trace', 'graph', 'logs', 'replay']) await walkBoth(verb, 'first');
  for (const verb of ['list', 'inbox', 'incidents']) await walkBoth(verb);
  await walkBoth('inbox', 'show', 'first');
  await walkBoth('diff', 'first', 'second');
  await walkBoth('step', 'list', 'first');
  await walkBoth('step', 'update', 'first', 'steps.4', '--step', JSON.stringify(shell(HOSTILE)), '--note', HOSTILE);
  for (const verb of ['pause', 'resume']) await walkBoth(verb, 'first');
  await walkBoth('fork', 'first', '--at', 'steps.1@1', '--detach');
  await walkBoth('answer', 'first', 'steps.3@1', HOSTILE);
  await walkBoth('answer', 'first', 'approve', '--data', '{}', '--note', HOSTILE, '--by', HOSTILE);
  await walkBoth('answer', 'first', 'steps.3@1', 'reject');
  await walk('follow', 'first');
  await walkBoth('inbox', '--all');
  await walkBoth('trace', 'first');
  await walkBoth('status', 'first');
  await walkBoth('retry', 'first', '--detach');
  await walkBoth('inbox', 'clear', 'first');
  await walkBoth('stop', 'second');
  await walkBoth('cancel', 'second');
  await walkBoth('status', HOSTILE);
  await harness.start(definition, { handle: 'handle\u001B[2J\u202E' });
  await walkBoth('list');
});

test('what begins by itself: schedules, triggers, events and hooks', async () => {
  await walkBoth('schedule', 'create', 'hostile.json', '--id', 'planned', '--cron', '0 9 * * *', '--replace');
  await walkBoth('schedule', 'pause', 'planned', '--note', HOSTILE);
  for (const words of [['list'], ['show', 'planned'], ['delete', 'planned']]) await walkBoth('schedule', ...words);
  await walkBoth('trigger', 'add', 'triggered.json');
  await walkBoth('emit', 'hostile:then', '--data', JSON.stringify(HOSTILE), '--id', HOSTILE);
  for (const pattern of [[], [HOSTILE]]) await walkBoth('events', ...pattern);
  await harness.createRow('hostile', HOSTILE, { [HOSTILE]: HOSTILE });
  for (const words of [
    ['list', 'hostile'],
    ['read', 'hostile', HOSTILE],
    ['delete', 'hostile', HOSTILE],
  ])
    await walkBoth('data', ...words);
  await walkBoth('data', 'list', HOSTILE);
  const record = JSON.stringify({ collection: 'hostile', data: { [HOSTILE]: HOSTILE } });
  await walkBoth('command', 'data/create', '--params', record, '--by', HOSTILE);
  await walkBoth('command', 'data/list', '--param', 'collection=hostile');
  await walkBoth('command', 'code/tree', '--param', `path=${HOSTILE}`);
  await walkBoth('command', HOSTILE, '--params', HOSTILE);
  await walkBoth('command', 'data/list', '--param', `${HOSTILE}=${HOSTILE}`);
  for (const name of [[], ['code/read'], [HOSTILE]]) await walkBoth('commands', ...name);
  await walkBoth('trigger', 'list');
  await walkBoth('trigger', 'show', HOSTILE);
  await walkBoth('trigger', 'remove', HOSTILE);
  await walkBoth('hooks', 'install');
  await walkBoth('hooks', 'remove');
});

test('webhooks: sources, the requests that prove them, and bodies', async () => {
  const config = join(harness.project, 'sentinel.config.mjs');
  const webhooks = { [`hostile`]: { kind: 'github', secret: HOSTILE } };
  writeFileSync(config, `export default { webhooks: ${JSON.stringify(webhooks)} };`);
  await walkBoth('webhook', 'list');
  await walkBoth('webhook', 'list', '--url', HOSTILE, '--show-secret');
  for (const name of ['github', 'hostile', HOSTILE]) await walkBoth('webhook', 'add', name);
  for (const more of [[], ['--dry-run'], ['--event', HOSTILE, '--data', JSON.stringify({ [HOSTILE]: HOSTILE })]])
    await walkBoth('webhook', 'test', 'hostile', ...more);
  await walkBoth('webhook', 'test', HOSTILE);
  await walkBoth('webhook', 'body', HOSTILE);
  rmSync(config);
});

test('what runs leave behind: changes, rooms, cassettes, samples and evaluations', async () => {
  const wrote = `printf '%s' "$TEXT" > "$TEXT"; git symbolic-ref "refs/heads/$REF" "refs/heads/$REF-followed"`;
  const env = { TEXT: HOSTILE, REF: 'turns\u202Eand\u200Bhides' };
  const handle = await harness.start(once('writes', [shell(wrote, { name: HOSTILE, env })]));
  await harness.result(handle);
  for (const how of [[], ['--stat'], [HOSTILE]]) await walkBoth('changes', handle, ...how);
  for (const how of [['--dry-run'], ['--refs', '--dry-run'], ['--only'], [HOSTILE], ['--refs']])
    await walkBoth('undo', handle, ...how);
  expect(plain((await walk('changes', handle)).out)).toContain(String.raw`a\u001b[35mb\u001b]0;title\u0007c`);
  expect(plain((await walk('changes', handle)).out)).toContain(String.raw`refs/heads/turns\u202eand\u200bhides`);
  await walkBoth('chat', 'general', '--send', HOSTILE, '--by', HOSTILE);
  for (const room of [[], ['general'], [HOSTILE]]) await walkBoth('chat', ...room);
  double.next(streamed(wire, wire.events({ parts: [{ text: [HOSTILE] }], reason: wire.reasons.end })));
  const asking = { type: 'llm' as const, model: 'openai/some-model', prompt: HOSTILE, system: HOSTILE };
  const asked = await harness.start(once('recorded', [asking]));
  expect(await harness.result(asked)).toMatchObject({ outcome: 'completed' });
  await walkBoth('cassette', asked);
  await walkBoth('samples', asked);
  await walkBoth('samples', HOSTILE);
  const inputs = [{ name: HOSTILE, input: { [HOSTILE]: HOSTILE } }];
  for (const checks of [[HOSTILE], [{ name: HOSTILE, check: '$said.stdout === 1' }]]) {
    const file = { definition: './evaluated.json', inputs, checks, [checks.length > 1 ? HOSTILE : 'repeat']: 1 };
    writeFileSync(join(harness.project, 'hostile.eval.json'), JSON.stringify(file));
    writeFileSync(
      join(harness.project, 'evaluated.json'),
      JSON.stringify({ ...definition, steps: definition.steps.slice(0, 1) }),
    );
    await walkBoth('eval', 'hostile.eval.json');
  }
});

test('models: what they are asked, what they answer and call', async () => {
  const called = { id: HOSTILE, name: HOSTILE, pieces: [JSON.stringify({ [HOSTILE]: HOSTILE })] };
  const { calls, end } = wire.reasons;
  const said = streamed(wire, wire.events({ parts: [{ text: [HOSTILE] }], reason: end }));
  double.next(streamed(wire, wire.events({ parts: [{ text: [HOSTILE] }, { call: called }], reason: calls })), said);
  const model = 'openai/some-model';
  const asking = { type: 'llm' as const, model, prompt: HOSTILE, system: HOSTILE, tools: ['code/read'] };
  const handle = await harness.start(once('asking', [{ ...asking, outputTo: 'said' }]));
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { said: HOSTILE } });
  for (const verb of ['transcript', 'trace', 'status', 'costs', 'follow', 'logs']) await walkBoth(verb, handle);
  await walkBoth('tell', handle, HOSTILE);
  for (const by of ['model', 'sentinel', 'step', 'persona', 'run']) await walkBoth('costs', '--by', by);
  expect(plain((await walk('transcript', handle)).out)).toContain(String.raw`a\u001b[35mb\u001b]0;title\u0007c`);
  double.next({ silentMs: Number.POSITIVE_INFINITY });
  const told = await harness.start(once('told', [asking]));
  await until(async () => (await harness.state(told)).current.length > 0);
  await walkBoth('tell', told, HOSTILE, '--by', HOSTILE, '--id', HOSTILE);
  await walkBoth('tell', told, HOSTILE, '--step', HOSTILE);
  for (const verb of ['status', 'trace']) await walkBoth(verb, told);
  await walkBoth('cancel', told);
  await walkBoth('follow', told);
  for (let times = 0; times < 2; times++) double.next(said);
  await walkBoth('models', 'test', model);
  for (const verb of ['test', 'pull', 'add']) await walkBoth('models', verb, HOSTILE);
  double.double.route('/v1/models', {
    pieces: [JSON.stringify({ object: 'list', data: [{ id: HOSTILE, object: 'model' }] })],
  });
  await walkBoth('models', 'list');
});

test('servers of tools: what they say of themselves', async () => {
  const config = join(harness.project, 'sentinel.config.mjs');
  const server = { command: process.execPath, args: ['-e', `process.stderr.write(${JSON.stringify(HOSTILE)})`] };
  writeFileSync(config, `export default { mcpServers: { hostile: ${JSON.stringify(server)} } };`);
  await walkBoth('mcp', 'list');
  await walkBoth('mcp', 'accept', 'hostile', HOSTILE);
  await walkBoth('mcp', 'accept', HOSTILE, HOSTILE);
  rmSync(config);
});

test('a project to begin with, in a folder of that name', async () => {
  await walkBoth('init', HOSTILE);
  // What lies there already is named once more.
  await walkBoth('init', HOSTILE);
});

test('what is around runs: the services and the worker', async () => {
  for (const verb of ['up', 'doctor', 'down', HOSTILE]) await walkBoth(verb);
  for (const verb of ['trust', 'web']) await walkBoth(verb, HOSTILE);
  seen.delete(HOSTILE);
  const child = spawn(process.execPath, [CLI, 'worker'], {
    cwd: harness.project,
    env: { ...process.env, ...harness.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  seen.add('worker');
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('"ready"')) child.kill('SIGTERM');
    });
  await emitted(child, 'close');
  expect(said).toContain('"ready":true');
  expect(said).not.toMatch(UNSEEN);
});

test('every verb was walked', async () => {
  const { out } = await show(['--help']);
  const [commands = ''] = (out.split('Commands:')[1] ?? '').split('\n\n');
  const verbs = new Set(Array.from(commands.matchAll(/^ {2}(\w+)/gm), ([, verb]) => verb));
  verbs.delete('help');
  expect(verbs.size).toBeGreaterThan(30);
  expect(seen).toEqual(verbs);
});

test('logs are passed through with --raw', async () => {
  const handle = await harness.start(once('raw', [shell(printed, { env: { TEXT: HOSTILE } })]));
  await harness.result(handle);
  for (const follow of [[], ['--follow']]) {
    const { out } = await show(['logs', handle, '--stream', 'stdout', '--raw', ...follow]);
    expect(out).toBe(`${HOSTILE}\n`);
    const shown = await show(['logs', handle, '--stream', 'stdout', ...follow]);
    expect(shown.out).toContain(String.raw`a\u001b[35mb\u001b]0;title\u0007c`);
    expect(shown.out).not.toMatch(UNSEEN);
  }
  expect(await show(['logs', handle, '--raw', '--json'])).toMatchObject({ code: 2 });
});
