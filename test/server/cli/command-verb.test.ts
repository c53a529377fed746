/** `sentinel command` and `sentinel commands`, as processes: what is performed at once, as a run, once, and not at all. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(
    join(harness.project, 'sentinel.config.ts'),
    `import { defineCommand, z } from 'sentinel-engine/commands';
export default {
  commands: [
    defineCommand({
      name: 'own/shout', description: 'Says it loudly.', permission: 'read', speed: 'quick',
      params: z.strictObject({ text: z.string(), 'odd name': z.number().optional() }), result: z.string(),
      run: (params) => JSON.stringify(params).toUpperCase(),
    }),
  ],
};`,
  );
  mkdirSync(join(harness.project, 'src'));
  writeFileSync(join(harness.project, 'src', 'big.txt'), 'deprecated, and long\n'.repeat(10_000));
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(() => harness.close());

interface Performed {
  code: number;
  err: string;
  said: { ok: boolean; command?: string; result?: Json; error?: { code: string; message: string }; run?: JsonObject };
}

async function perform(name: string, ...args: string[]): Promise<Performed> {
  const { code, out, err } = await harness.command('command', name, ...args, '--json');
  return { code, err, said: JSON.parse(out) as Performed['said'] };
}

const SEND = 'collaboration/chat/send';
const messagesIn = async (room: string): Promise<JsonObject[]> => {
  const { said } = await perform('collaboration/chat/read', '--param', `room=${room}`, '--param', 'limit=1000');
  return (said.result as { messages: JsonObject[] }).messages;
};

const send = (message: string) =>
  perform(SEND, '--params', JSON.stringify({ room: 'once', message }), '--id', 'the same');

describe('a quick command', () => {
  test('is performed at once, in the name of who is named, and gives its result', async () => {
    const { code, err, said } = await perform(SEND, '--param', 'room=one', '--param', 'message=7', '--by', 'grace');
    expect(code, err).toBe(0);
    expect(said).toEqual({
      ok: true,
      command: SEND,
      result: {
        room: 'one',
        author: 'grace',
        message: '7',
        event: 'chat:one:message',
        seq: expect.any(Number) as number,
        replyTo: null,
        thread: null,
        mentions: [],
      },
    });
    expect(await messagesIn('one')).toMatchObject([{ author: 'grace', handle: null, message: '7' }]);
    expect(await harness.store.runs.list({ limit: 10 })).toEqual([]);
  });

  test('with an id is performed once, and gives the first result again', async () => {
    for (let times = 0; times < 2; times += 1)
      expect((await send('first')).said.result).toMatchObject({ message: 'first' });
    const other = await send('second');
    expect(other).toMatchObject({ code: 2, said: { ok: false, error: { code: 'USAGE' } } });
    expect(other.said.error?.message).toContain('the id "the same" is that of another call');
    expect(await messagesIn('once')).toMatchObject([{ message: 'first' }]);
    const { records } = harness.store;
    const create = ['--params', '@record.json', '--id', 'record-1'];
    writeFileSync(join(harness.project, 'record.json'), JSON.stringify({ collection: 'todos', data: { title: '$x' } }));
    for (let times = 0; times < 2; times += 1) expect((await perform('data/create', ...create)).code).toBe(0);
    expect(await records.list(harness.store.session(), { collection: 'todos' })).toMatchObject([
      { data: { title: '$x' } },
    ]);
  });

  test('takes parameters as flags, one with the name of an option among them', async () => {
    const make = ['--collection=flags', '--id=7', '--id', 'flags-1', `--data={"title": "it's", "size": 3}`];
    for (let times = 0; times < 2; times += 1)
      expect((await perform('data/create', ...make)).said.result).toMatchObject({ id: '7', title: "it's" });
    const { said } = await perform('data/list', '--collection=flags', '--filter={"size": {"$gt": 2}}', '--limit', '5');
    expect(said.result).toMatchObject([{ id: '7', size: 3 }]);
    const wrong = await perform('data/list', '--collecton=flags');
    expect(wrong).toMatchObject({ code: 2, said: { ok: false, error: { code: 'USAGE' } } });
    expect(wrong.said.error?.message).toContain('collection');
  });

  test('that fails says why', async () => {
    const { code, said } = await perform('code/read', '--param', 'path=none.txt');
    expect({ code, said }).toMatchObject({ code: 1, said: { ok: false, error: { code: 'COMMAND_FAILED' } } });
    expect(said.error?.message).toContain('none.txt');
  });
});

describe('a command that takes long', () => {
  test('is the step of a run, and its whole result is given', async () => {
    const { code, err, said } = await perform('code/search', '--param', 'pattern=deprecated', '--param', 'limit=2000');
    expect(code, err).toBe(0);
    expect(said).toMatchObject({ ok: true, command: 'code/search' });
    expect(JSON.stringify(said.result).length).toBeGreaterThan(32 * 1024);
    const [run] = await harness.store.runs.list({ limit: 1 });
    expect(run).toMatchObject({ persona: 'ada', status: 'completed' });
  });

  test('takes what it is given as a value: no reference in it is looked up', async () => {
    const content = 'costs $5, {{iteration}} and $RUN_NAME\n';
    const params = { path: 'said.txt', content };
    expect((await perform('code/write', '--params', JSON.stringify(params), '--id', 'says')).code).toBe(0);
    const { said } = await perform('code/read', '--param', 'path=said.txt');
    expect((said.result as JsonObject)['content']).toBe(content);
    const { code, err } = await harness.command(
      'command',
      'code/write',
      '--params',
      JSON.stringify(params),
      '--id',
      'says',
    );
    expect(code).toBe(2);
    expect(err).toContain('The handle "says" is taken');
  });

  test('prints its result as text, and ends with the exit code of its run', async () => {
    const { code, out } = await harness.command('command', 'code/shell/execute', '--param', 'command=echo said');
    expect(code).toBe(0);
    expect(out).toMatch(/said\n$/);
    const failed = await perform('code/edit', '--param', 'path=none.txt', '--param', 'old=a', '--param', 'new=b');
    expect(failed).toMatchObject({ code: 1, said: { ok: false, command: 'code/edit', run: { status: 'failed' } } });
  });

  test('or that says how a worker is, is performed by one', async () => {
    const { code, err, said } = await perform('runtime/metrics/all');
    expect(code, err).toBe(0);
    const metrics = said.result as { command: string; p99_ms: number }[];
    expect(metrics.find(({ command }) => command === 'code/search')?.p99_ms).toBeGreaterThan(0);
  });

  test('may be one of the project', async () => {
    const params = JSON.stringify({ text: '$PERSONA_ID', 'odd name': 1 });
    const { code, err, said } = await perform('own/shout', '--params', params);
    expect(code, err).toBe(0);
    expect(said.result).toBe('{"TEXT":"$PERSONA_ID","ODD NAME":1}');
  });
});

test.each([
  [['collaboration/chat/sen'], /There is no command "collaboration\/chat\/sen"; write "collaboration\/chat\/send"/],
  [['genome/train-voice'], /part of the format, but not built yet/],
  [[SEND, '--param', 'rom=x'], /"message": is needed; "rom": is not taken \(write "room"\); "sentinel commands /],
  [[SEND, '--params', '{"message": '], /--params is not JSON/],
  [[SEND, '--params', '[1]'], /--params is not a JSON object/],
  [[SEND, '--params', '@none.json'], /--params @none\.json cannot be read/],
  [[SEND, '--param', 'message'], /--param message has no name and value/],
  [[SEND, '--param', 'message= '], /"message": .*; "sentinel commands /],
  [[SEND, '--param', 'message=x', '--id', ''], /--id is empty/],
  [['own/shout', '--param', 'txt=x'], /"txt": is not taken \(write "text"\)/],
  [['code/git', '--param', 'operation=explode'], /"operation": /],
])('%j is wrong usage', async (args, message) => {
  const { code, out, err } = await harness.command('command', ...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
  expect(err).not.toContain("step's params");
});

test.each([
  [['bad room!'], '"bad room!" is no room: it must be a name of letters, digits, '],
  [['bad room!', '--send', 'hello'], '"bad room!" is no room: it must be a name of letters, digits, '],
  [['general', '--send', ' '], '--send has 1 to 100000 characters.'],
])('chat %j is wrong usage, in the words of the verb', async (args, message) => {
  const { code, out, err } = await harness.command('chat', ...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(`sentinel: ${message}`);
});

test('"commands" lists what there is, and shows one with what it takes and gives', async () => {
  const { out } = await harness.command('commands', '--json');
  const all = JSON.parse(out) as { name: string; from: string; isPlanned: boolean }[];
  expect(all).toContainEqual(expect.objectContaining({ name: 'own/shout', from: 'project', permission: 'read' }));
  expect(all).toContainEqual(expect.objectContaining({ name: 'code/read', system: 'code', isPlanned: false }));
  expect(all).toContainEqual(expect.objectContaining({ name: 'genome/train-voice', isPlanned: true }));
  const shown = (await harness.command('commands', SEND)).out;
  for (const line of [/^permission +write$/m, /^ {2}message +text$/m, /^ {2}room +optional +text +default "general"$/m])
    expect(shown).toMatch(line);
  expect((await harness.command('commands', 'own/shout')).out).toMatch(/Says it loudly\.[^]*odd name +optional/);
  expect(await harness.command('commands', 'own/shoot')).toMatchObject({ code: 2, out: '' });
});
