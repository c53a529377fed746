/** What Ollama's wire has and no other: a window to ask for, lost calls, sentences for errors, pulling. */
import { expect, test } from 'vitest';
import { ollamaAddress } from '../../../world/models/ollama/host.ts';
import type { PullProgress } from '../../../world/models/provider/provider.ts';
import type { JsonObject } from '../../../language/json.ts';
import { failureOf, replyOf, say, TOOLS, turn, useDouble } from '../harness/turns.ts';
import { ollamaWire as wire } from '../wires/ollama-wire.ts';
import { json, streamed } from '../wires/wire.ts';

const double = useDouble();
const never = new AbortController().signal;

test.each([
  [undefined, 'http://127.0.0.1:11434'],
  ['', 'http://127.0.0.1:11434'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['0.0.0.0:8080', 'http://127.0.0.1:8080'],
  [':9999', 'http://127.0.0.1:9999'],
  ['gpu-box', 'http://gpu-box:11434'],
  ['gpu-box:80', 'http://gpu-box:80'],
  ['http://gpu-box', 'http://gpu-box'],
  ['https://gpu-box', 'https://gpu-box'],
  ['https://u:p@gpu-box:8443/ollama/', 'https://u:p@gpu-box:8443/ollama'],
  ['[::1]', 'http://[::1]:11434'],
  ['[::]:7000', 'http://127.0.0.1:7000'],
  [' "127.0.0.1:11434" ', 'http://127.0.0.1:11434'],
  ['ftp://x', null],
  ['http://', null],
])('OLLAMA_HOST %j is %s', (text, address) => {
  const found = ollamaAddress(text);
  // `URL` drops a port that is the scheme's own.
  expect(found?.replace(/^http:\/\/gpu-box$/, address ?? '') ?? null).toBe(address);
});

test('the window is asked for, and nothing is to be dropped from it', async () => {
  double().next(say(wire), say(wire));
  await replyOf(turn(wire, double(), { facts: { window: 16_384 }, request: { maxTokens: 77 } }));
  expect(double().asked.at(-1)?.body).toMatchObject({
    truncate: false,
    shift: false,
    options: { num_ctx: 16_384, num_predict: 77 },
  });
  await replyOf(turn(wire, double(), { facts: { window: 16_384 }, request: { window: 8192 } }));
  expect(double().asked.at(-1)?.body).toMatchObject({ options: { num_ctx: 8192 } });
});

test('an empty answer to an offer of tools is a call that the server dropped', async () => {
  double().next(say(wire, { parts: [{ thinking: ['hm'] }], usage: { input: 10, output: 30 } }));
  const failure = await failureOf(turn(wire, double(), { request: { tools: TOOLS } }));
  expect(failure).toMatchObject({ kind: 'malformed-answer' });
});

test.each([
  ['registry.ollama.ai/library/gemma:2b does not support tools', { kind: 'unsupported', what: 'tools' }],
  ['"gemma:2b" does not support thinking', { kind: 'bad-request', field: 'think' }],
  [
    'model requires more system memory (9.1 GiB) than is available (3.2 GiB)',
    { kind: 'bad-request', field: 'num_ctx' },
  ],
])('%s', async (sentence, expected) => {
  double().next({ status: 400, headers: json, pieces: [JSON.stringify({ error: sentence })] });
  const failure = await failureOf(turn(wire, double()));
  expect(failure).toMatchObject(expected);
  expect(failure.message).toContain(sentence.slice(0, 30));
});

test.each([
  ['switch', 'high', true],
  ['switch', 'off', false],
  ['effort', 'low', 'low'],
  ['effort', 'max', 'high'],
] as const)('a model with a %s thinks %s', async (kind, thinking, think) => {
  double().next(say(wire));
  await replyOf(turn(wire, double(), { request: { thinking }, facts: { thinking: { kind } } }));
  expect(double().asked.at(-1)?.body['think']).toBe(think);
});

test('a model that cannot think is not told to', async () => {
  double().next(say(wire));
  const { omitted } = await replyOf(turn(wire, double(), { request: { thinking: 'high' }, facts: { thinking: null } }));
  expect(double().asked.at(-1)?.body).not.toHaveProperty('think');
  expect(omitted).toEqual(['thinking']);
});

const shown = (more: JsonObject) => ({ headers: json, pieces: [JSON.stringify(more)] });

test('what `show` says are facts; a window of the trained size is not asked for unless somebody wants it', async () => {
  double().route(
    '/api/show',
    shown({
      model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 131_072 },
      capabilities: ['completion', 'tools', 'vision', 'thinking'],
      details: { family: 'qwen3' },
    }),
  );
  expect(await wire.open(double().url).describe('m', never)).toEqual({
    window: 32_768,
    tools: true,
    images: true,
    thinking: { kind: 'switch' },
  });
  double().route(
    '/api/show',
    shown({ model_info: { 'x.context_length': 8192 }, capabilities: ['completion'], details: {} }),
  );
  expect(await wire.open(double().url).describe('m', never)).toEqual({
    window: 8192,
    tools: false,
    images: false,
    thinking: null,
  });
});

test('models are listed with what is allocated for them now', async () => {
  double().route(
    '/api/tags',
    shown({
      models: [
        { name: 'a:1b', size: 100 },
        { name: 'b:2b', size: 200 },
      ],
    }),
  );
  double().route('/api/ps', shown({ models: [{ name: 'b:2b', context_length: 4096 }] }));
  expect(await wire.open(double().url).list(never)).toEqual([
    { id: 'a:1b', sizeBytes: 100, allocated: null, window: null },
    { id: 'b:2b', sizeBytes: 200, allocated: 4096, window: null },
  ]);
});

test('a pull tells how far it is, and fails as a turn does', async () => {
  const lines = [
    { status: 'pulling manifest' },
    { status: 'pulling abc', digest: 'abc', total: 10, completed: 4 },
    { status: 'success' },
  ].map((line) => `${JSON.stringify(line)}\n`);
  double().next(
    streamed(wire, lines),
    streamed(wire, [lines[0] ?? '', '{"error":"pull model manifest: file does not exist"}\n']),
  );
  const heard: PullProgress[] = [];
  const provider = wire.open(double().url);
  await provider.pull?.('a:1b', never, (progress) => heard.push(progress));
  expect(heard).toEqual([
    { status: 'pulling manifest', totalBytes: null, completedBytes: null },
    { status: 'pulling abc', totalBytes: 10, completedBytes: 4 },
    { status: 'success', totalBytes: null, completedBytes: null },
  ]);
  await expect(provider.pull?.('a:1b', never, () => undefined)).rejects.toThrow(/file does not exist/);
});
