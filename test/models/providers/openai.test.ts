/** In what the servers differ that speak chat completions. */
import { expect, test } from 'vitest';
import type { Dialect } from '../../../world/models/openai/dialect.ts';
import { openAiProvider } from '../../../world/models/openai/openai.ts';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { failureOf, HELLO, replyOf, say, TOOLS, turn, useDouble } from '../harness/turns.ts';
import { openAiWire as wire } from '../wires/openai-wire.ts';
import { json, streamed, type Wire } from '../wires/wire.ts';

const double = useDouble();
const withTools = { request: { tools: TOOLS } };

const data = (...chunks: JsonObject[]): string[] => [
  ...chunks.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`),
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\n`,
];
const calling = (...pieces: JsonObject[]): string[] => data(...pieces.map((piece) => ({ tool_calls: [piece] })));
const fn = (name: string | undefined, args: string) => ({
  function: { ...defined({ name }), arguments: args },
});

test.each([
  [
    'no index',
    [{ id: 'a', ...fn('code_read', '{"path":') }, fn('', '"1"}'), { id: 'b', ...fn('code_read', '{"path":"2"}') }],
  ],
  [
    'an index that is always 0',
    [
      { index: 0, id: 'a', ...fn('code_read', '{"path":"1"}') },
      { index: 0, id: 'b', ...fn('code_read', '{"path":"2"}') },
    ],
  ],
  [
    'an index that starts at 1',
    [
      { index: 1, id: 'a', ...fn('code_read', '{"path":"1"}') },
      { index: 2, id: 'b', ...fn('code_read', '{"path":"2"}') },
    ],
  ],
  [
    'an index, and an id in the first piece alone',
    [
      { index: 0, id: 'a', ...fn('code_read', '') },
      { index: 1, id: 'b', ...fn('code_read', '') },
      { index: 0, id: '', ...fn('', '{"path":"1"}') },
      { index: 1, id: '', ...fn('', '{"path":"2"}') },
    ],
  ],
  [
    'an id in each piece',
    [
      { index: 0, id: 'a', ...fn('code_read', '{"path"') },
      { index: 0, id: 'a', ...fn(undefined, ':"1"}') },
      { index: 1, id: 'b', ...fn('code_read', '{"path":"2"}') },
    ],
  ],
  [
    'arguments before the name',
    [
      { index: 0, ...fn(undefined, '{"path":') },
      { index: 0, id: 'a', ...fn('code_read', '"1"}') },
      { index: 1, id: 'b', ...fn('code_read', '{"path":"2"}') },
    ],
  ],
  ['neither ids nor indices', [fn('code_read', '{"path":"1"}'), fn('code_read', '{"path":"2"}')]],
])('two calls of a server that gives %s are two calls', async (_how, pieces) => {
  double().next(streamed(wire, calling(...(pieces as JsonObject[]))));
  const { blocks } = await replyOf(turn(wire, double(), withTools));
  expect(blocks).toMatchObject([
    { type: 'tool-call', name: 'code/read', input: { path: '1' } },
    { type: 'tool-call', name: 'code/read', input: { path: '2' } },
  ]);
});

test.each(['reasoning', 'reasoning_content', 'reasoning_text'])('a thought may come as %s', async (field) => {
  double().next(
    streamed(wire, [
      ...data({ [field]: 'hm' }, { content: 'Yes.' }).slice(0, -1),
      `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
    ]),
  );
  const { blocks } = await replyOf(turn(wire, double()));
  expect(blocks).toEqual([
    { type: 'thinking', text: 'hm' },
    { type: 'text', text: 'Yes.' },
  ]);
});

const chunk = (content: string, finish: string | null, completion: number): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }], usage: { prompt_tokens: 20, completion_tokens: completion } })}\n\n`;

test('usage that comes with every chunk is taken once, the last', async () => {
  double().next(streamed(wire, [chunk('a', null, 1), chunk('b', null, 2), chunk('c', 'stop', 3)]));
  const { usage } = await replyOf(turn(wire, double()));
  expect(usage).toMatchObject({ input: 20, output: 3, estimated: false });
});

test('a filter of content is a refusal', async () => {
  double().next(say(wire, { reason: 'content_filter' }));
  expect(await replyOf(turn(wire, double()))).toMatchObject({ stopReason: 'refusal' });
});

test.each([
  [
    {
      error: {
        code: 400,
        type: 'exceed_context_size_error',
        message: 'the request exceeds the available context size',
        n_prompt_tokens: 5000,
        n_ctx: 4096,
      },
    },
    5000,
    4096,
  ],
  [
    {
      error: {
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (…)",
        type: 'BadRequestError',
        code: 400,
      },
    },
    5000,
    4096,
  ],
  [
    {
      error: 'Trying to keep the first 5000 tokens when context the overflows. The context length of only 4096 tokens',
    },
    null,
    null,
  ],
])('an overflow in the words of another server is one', async (body, tokens, window) => {
  double().next({ status: 400, headers: json, pieces: [JSON.stringify(body)] });
  expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'context-too-long', tokens, window });
});

test('a request that the provider refuses for its content is refused', async () => {
  double().next({
    status: 400,
    headers: json,
    pieces: [JSON.stringify({ error: { code: 'content_filter', message: 'filtered' } })],
  });
  expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'content-refused' });
});

async function bodyWith(dialect: Partial<Dialect>, request: object): Promise<JsonObject> {
  const spoken: Wire = {
    ...wire,
    open: (url) =>
      openAiProvider({
        name: 'openai',
        apiKey: null,
        baseUrl: `${url}/v1`,
        keyVariable: 'OPENAI_API_KEY',
        isLocal: true,
        dialect,
      }),
  };
  double().next(say(wire));
  await replyOf(turn(spoken, double(), { request }));
  return double().asked.at(-1)?.body ?? {};
}

const called = {
  messages: [
    ...HELLO,
    { role: 'assistant', blocks: [{ type: 'tool-call', id: 'a', name: 'code/read', input: {} }], author: 'x/y' },
  ],
  system: 'S',
  maxTokens: 9,
};

test('a plain server gets the older names', async () => {
  const body = await bodyWith({}, called);
  const messages = body['messages'] as JsonObject[];
  expect(body).toMatchObject({ max_tokens: 9, stream_options: { include_usage: true } });
  expect(messages[0]).toEqual({ role: 'system', content: 'S' });
  expect(messages[2]).toMatchObject({ role: 'assistant', content: null });
  expect(messages[3]).not.toHaveProperty('name');
});

test('a dialect says what else a server wants', async () => {
  const body = await bodyWith(
    {
      maxTokens: 'max_completion_tokens',
      system: 'developer',
      emptyContent: 'omit',
      streamUsage: false,
      toolResultName: true,
    },
    called,
  );
  const messages = body['messages'] as JsonObject[];
  expect(body).toMatchObject({ max_completion_tokens: 9 });
  expect(body).not.toHaveProperty('stream_options');
  expect(messages[0]).toEqual({ role: 'developer', content: 'S' });
  expect(messages[2]).not.toHaveProperty('content');
  expect(messages[3]).toMatchObject({ role: 'tool', name: 'code_read' });
});

async function strictOf(schema: JsonObject): Promise<unknown> {
  const format = (await bodyWith({}, { schema }))['response_format'] as { json_schema: { strict: boolean } };
  return format.json_schema.strict;
}

test('a schema is strict only where it leaves nothing open', async () => {
  const properties = { a: { type: 'string' } };
  expect(await strictOf({ type: 'object', properties, required: ['a'], additionalProperties: false })).toBe(true);
  expect(await strictOf({ type: 'object', properties, additionalProperties: false })).toBe(false);
  expect(await strictOf({ type: 'object', properties, required: ['a'] })).toBe(false);
});

test('the window is what the server has allocated: vLLM, llama.cpp, LM Studio', async () => {
  const never = new AbortController().signal;
  const describing = () => wire.open(double().url).describe('m', never);
  double().route('/v1/models', {
    headers: json,
    pieces: [JSON.stringify({ data: [{ id: 'm', max_model_len: 1111 }] })],
  });
  expect(await describing()).toEqual({ window: 1111 });
  double().route('/v1/models', {
    headers: json,
    pieces: [JSON.stringify({ data: [{ id: 'm', meta: { n_ctx_train: 9 } }] })],
  });
  double().route('/api/v1/models', {
    headers: json,
    pieces: [JSON.stringify({ models: [{ key: 'm', max_context_length: 3333 }] })],
  });
  expect(await describing()).toEqual({ window: 3333 });
  double().route('/props', {
    headers: json,
    pieces: [JSON.stringify({ default_generation_settings: { n_ctx: 2222 } })],
  });
  expect(await describing()).toEqual({ window: 2222 });
});

test('a server whose dialect takes an effort has models that think', async () => {
  const never = new AbortController().signal;
  double().route('/v1/models', { headers: json, pieces: [JSON.stringify({ data: [{ id: 'm', max_model_len: 5 }] })] });
  const settings = { name: 'own', apiKey: null, keyVariable: 'KEY', isLocal: true, baseUrl: `${double().url}/v1` };
  expect(await openAiProvider({ ...settings, dialect: { effort: true } }).describe('m', never)).toEqual({
    window: 5,
    thinking: { kind: 'effort' },
  });
  expect(await openAiProvider(settings).describe('m', never)).toEqual({ window: 5 });
});

test('what a provider sends beside a call goes back with it, to that model alone', async () => {
  const google = { google: { thought_signature: 'AY89a18IwQsQ8in/+w==' } };
  const vertex = { thought_signature: 'CiQB' };
  double().next(
    streamed(
      wire,
      calling(
        { index: 0, id: 'a', ...fn('code_read', '{"path":"1"}'), extra_content: google },
        { index: 1, id: 'b', ...fn('code_read', ''), provider_specific_fields: vertex },
        { index: 1, ...fn(undefined, '{"path":"2"}'), extra_content: 'no object' },
        { index: 2, id: 'c', ...fn('code_read', '{"path":"3"}') },
      ),
    ),
  );
  const { blocks } = await replyOf(turn(wire, double(), withTools));
  expect(blocks.map((block) => (block.type === 'tool-call' ? block.beside : null))).toEqual([
    { extra_content: google },
    { provider_specific_fields: vertex },
    undefined,
  ]);
  const results = ['a', 'b', 'c'].map((callId) => ({
    type: 'tool-result' as const,
    callId,
    content: [{ type: 'text' as const, text: 'read' }],
    isError: false,
  }));
  const besideSent = async (author: string): Promise<unknown[]> => {
    double().next(say(wire));
    const messages = [
      ...HELLO,
      { role: 'assistant' as const, blocks, author },
      { role: 'user' as const, blocks: results },
    ];
    await replyOf(turn(wire, double(), { request: { tools: TOOLS, messages } }));
    const { messages: sent } = (double().asked.at(-1)?.body ?? {}) as { messages?: { tool_calls?: JsonObject[] }[] };
    return (sent ?? [])
      .flatMap(({ tool_calls: calls = [] }) => calls)
      .map(({ extra_content, provider_specific_fields }) => extra_content ?? provider_specific_fields ?? null);
  };
  expect(await besideSent(`openai/${wire.model}`)).toEqual([google, vertex, null]);
  expect(await besideSent('openai/another')).toEqual([null, null, null]);
});
