/** Streams of chat completions as the servers of people send them: what each of them says is read. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { failureOf, replyOf, TOOLS, turn, useDouble } from '../harness/turns.ts';
import { openAiWire as wire } from '../wires/openai-wire.ts';
import { streamed } from '../wires/wire.ts';

const double = useDouble();
const withTools = { request: { tools: TOOLS } };

const events = (chunks: readonly (JsonObject | string)[]): string[] =>
  [...chunks, '[DONE]'].map((chunk) =>
    typeof chunk !== 'string'
      ? `data: ${JSON.stringify(chunk)}\n\n`
      : chunk.startsWith(':')
        ? `${chunk}\n\n`
        : `data: ${chunk}\n\n`,
  );
const choice = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: 'x',
  object: 'chat.completion.chunk',
  model: 'some-model',
  choices: [{ index: 0, delta, finish_reason: finish, ...more }],
});
const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const read = (path: string, id?: string): JsonObject => ({
  type: 'tool-call',
  name: 'code/read',
  input: { path },
  ...defined({ id }),
});
const fn = (name: string, args: string): JsonObject => ({ type: 'function', function: { name, arguments: args } });

interface Vector {
  chunks: (JsonObject | string)[];
  blocks: JsonObject[];
  stopReason?: string;
  isCounted?: boolean;
}

const vectors: Record<string, Vector> = {
  'OpenRouter: comments while it waits, a thought in two fields, usage in the last chunk': {
    chunks: [
      ': OPENROUTER PROCESSING',
      choice({ role: 'assistant', content: '', reasoning: null, reasoning_details: [] }),
      ': OPENROUTER PROCESSING',
      choice({ content: '', reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] }),
      choice({ role: 'assistant', content: 'Yes.' }),
      choice({ role: 'assistant', content: '' }, 'stop', { native_finish_reason: 'STOP' }),
      { ...choice({ role: 'assistant', content: '' }), usage },
    ],
    blocks: [
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ],
  },
  'Azure: a first chunk about the prompt, without a choice and a model': {
    chunks: [
      { id: '', object: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      choice({ role: 'assistant', content: '', refusal: null }),
      choice({ content: 'Hi' }, null, { content_filter_results: { hate: { filtered: false } } }),
      choice({ content: '.' }),
      choice({}, 'stop'),
      { ...choice({}), choices: [], usage },
    ],
    blocks: [{ type: 'text', text: 'Hi.' }],
  },
  'Gemini: calls that come whole, without an id, each at index 0': {
    chunks: [
      choice({
        role: 'assistant',
        tool_calls: [{ index: 0, id: '', ...fn('code_read', '{"path":"a"}'), extra_content: { google: {} } }],
      }),
      choice({ tool_calls: [{ index: 0, id: '', ...fn('code_read', '{"path":"b"}') }] }),
      { ...choice({ role: 'assistant' }, 'stop'), usage },
    ],
    blocks: [read('a'), read('b')],
    stopReason: 'tool-calls',
  },
  'DeepSeek: a thought, then content that is null beside it, and usage that is null until the end': {
    chunks: [
      { ...choice({ role: 'assistant', content: null, reasoning_content: '' }), usage: null },
      { ...choice({ content: null, reasoning_content: 'Let me see.' }), usage: null },
      { ...choice({ content: 'Yes.', reasoning_content: null }), usage: null },
      { ...choice({ content: '' }, 'stop'), usage },
    ],
    blocks: [
      { type: 'thinking', text: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ],
  },
  'vLLM: an id in the first piece alone, and pieces of arguments': {
    chunks: [
      choice({ role: 'assistant', content: '' }),
      choice({ reasoning: 'So.' }),
      choice({ tool_calls: [{ id: 'chatcmpl-tool-1', index: 0, ...fn('code_read', '') }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '{"path": ' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] }),
      choice({ tool_calls: [{ id: 'chatcmpl-tool-2', index: 1, ...fn('code_read', '{"path": "b"}') }] }),
      choice({ content: '' }, 'tool_calls', { stop_reason: null }),
      { ...choice({}), choices: [], usage },
    ],
    blocks: [{ type: 'thinking', text: 'So.' }, read('a', 'chatcmpl-tool-1'), read('b', 'chatcmpl-tool-2')],
    stopReason: 'tool-calls',
  },
  'llama.cpp: a name beside the beginning of its arguments, timings, content that is null': {
    chunks: [
      choice({ role: 'assistant', content: null }),
      choice({ reasoning_content: 'So.' }),
      choice({ tool_calls: [{ index: 0, id: 'Zk9', ...fn('code_read', '{') }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '"path":"a"' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
      choice({}, 'tool_calls'),
      { ...choice({}), choices: [], usage, timings: { prompt_n: 20 } },
    ],
    blocks: [{ type: 'thinking', text: 'So.' }, read('a', 'Zk9')],
    stopReason: 'tool-calls',
  },
  'LM Studio: ids that are numbers in a text, and a role in each piece': {
    chunks: [
      choice({ role: 'assistant', tool_calls: [{ index: 0, id: '365174485', ...fn('code_read', '') }] }),
      choice({ role: 'assistant', tool_calls: [{ index: 0, ...fn('', '{"path":"a"}') }] }),
      choice({ role: 'assistant', tool_calls: [{ index: 1, id: '365174486', ...fn('code_read', '') }] }),
      choice({ role: 'assistant', tool_calls: [{ index: 1, ...fn('', '{"path":"b"}') }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', '365174485'), read('b', '365174486')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'Mistral: content in parts, one of them thought': {
    chunks: [
      choice({ role: 'assistant', content: '' }),
      choice({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me' }] }] }),
      choice({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: ' see.' }] }] }),
      choice({ content: [{ type: 'text', text: 'Yes' }] }),
      choice({ content: '.' }),
      { ...choice({ content: '' }, 'stop'), usage },
    ],
    blocks: [
      { type: 'thinking', text: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ],
  },
  'Mistral: calls that come whole in one piece, whose id is the word null': {
    chunks: [
      choice({ role: 'assistant', content: '' }),
      {
        ...choice(
          {
            content: '',
            tool_calls: [
              { id: 'null', index: 0, function: { name: 'code_read', arguments: '{"path": "a"}' } },
              { id: 'null', index: 1, function: { name: 'code_read', arguments: '{"path": "b"}' } },
            ],
          },
          'tool_calls',
        ),
        usage,
      },
    ],
    blocks: [read('a', 'null'), read('b', 'call_1')],
    stopReason: 'tool-calls',
  },
  'Groq: usage in a field of its own': {
    chunks: [
      { ...choice({ role: 'assistant', content: '' }), x_groq: { id: 'req_1' } },
      choice({ content: 'Hi.' }),
      { ...choice({}, 'stop'), x_groq: { id: 'req_1', usage } },
    ],
    blocks: [{ type: 'text', text: 'Hi.' }],
  },
  'a name in two pieces': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code_', '') }] }),
      choice({ tool_calls: [{ index: 0, ...fn('read', '') }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: '{"path":"a"}' } }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', 'a')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'a name in two pieces, without ids and indices': {
    chunks: [
      choice({ tool_calls: [{ function: { name: 'code_' } }] }),
      choice({ tool_calls: [{ function: { name: 'read', arguments: '{"path":' } }] }),
      choice({ tool_calls: [{ function: { arguments: '"a"}' } }] }),
      choice({ tool_calls: [{ function: { name: 'code_read', arguments: '{"path":"b"}' } }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a'), read('b')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'a name that grows, and one that is said with each piece': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code', '') }] }),
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code_read', '{"path"') }] }),
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code_read', ':"a"}') }] }),
      choice({ tool_calls: [{ index: 1, id: 'b', ...fn('code_read', '{"path":') }] }),
      choice({ tool_calls: [{ index: 1, id: 'b', ...fn('code_read', '"b"}') }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', 'a'), read('b', 'b')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'two calls under one id at one index, each of them whole': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'call_1', ...fn('code_read', '{"path":"a"}') }] }),
      choice({ tool_calls: [{ index: 0, id: 'call_1', ...fn('code_read', '{"path":"b"}') }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', 'call_1'), read('b')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'two calls under one id and without an index': {
    chunks: [
      choice({ tool_calls: [{ id: 'call_1', ...fn('code_read', '{"path":"a"}') }] }),
      choice({ tool_calls: [{ id: 'call_1', ...fn('code_read', '{"path":"b"}') }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', 'call_1'), read('b')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'two calls under one id whose pieces come in turn': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'call_1', ...fn('code_read', '') }] }),
      choice({ tool_calls: [{ index: 1, id: 'call_1', ...fn('code_read', '') }] }),
      choice({ tool_calls: [{ index: 0, id: 'call_1', function: { arguments: '{"path":"a"}' } }] }),
      choice({ tool_calls: [{ index: 1, id: 'call_1', function: { arguments: '{"path":"b"}' } }] }),
      choice({}, 'tool_calls'),
    ],
    blocks: [read('a', 'call_1'), read('b')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'a call that is said once more when it is whole': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code_read', '{"path":') }] }),
      choice({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '"a"}' } }] }),
      choice({ tool_calls: [{ index: 0, id: 'a', ...fn('code_read', '{"path":"a"}') }] }, 'tool_calls'),
    ],
    blocks: [read('a', 'a')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'arguments that are null, and a function that is': {
    chunks: [
      choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'code_read', arguments: null } }] }),
      choice({ tool_calls: [{ index: 0, function: null }] }),
      choice({ tool_calls: [{ index: 1, id: 'b', ...fn('code_read', 'null') }] }),
      choice({ tool_calls: null }, 'tool_calls'),
    ],
    blocks: [
      { type: 'tool-call', id: 'a', name: 'code/read', input: {} },
      { type: 'tool-call', id: 'b', name: 'code/read', input: {} },
    ],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'the one call of older servers': {
    chunks: [
      choice({ role: 'assistant', content: null, function_call: { name: 'code_read', arguments: '' } }),
      choice({ function_call: { arguments: '{"path":' } }),
      choice({ function_call: { arguments: '"a"}' } }),
      choice({}, 'function_call'),
    ],
    blocks: [read('a')],
    stopReason: 'tool-calls',
    isCounted: false,
  },
  'a message in the place of a delta': {
    chunks: [
      {
        ...choice({}, 'stop'),
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
        usage,
      },
    ],
    blocks: [{ type: 'text', text: 'Hi.' }],
  },
};

describe.each(Object.entries(vectors))('%s', (_name, { chunks, blocks, stopReason = 'end', isCounted = true }) => {
  test('is read', async () => {
    double().next(streamed(wire, events(chunks)));
    const reply = await replyOf(turn(wire, double(), withTools));
    expect(reply.blocks).toMatchObject(blocks);
    expect(reply.blocks).toHaveLength(blocks.length);
    expect(reply.stopReason).toBe(stopReason);
    expect(reply.usage).toMatchObject(isCounted ? { input: 20, output: 5, estimated: false } : { estimated: true });
    const ids = reply.blocks.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test.each(['error', 'abort', 'insufficient_system_resource'])(
  'an answer that its server broke off (%s) is none, and what came is counted',
  async (finish) => {
    double().next(streamed(wire, events([choice({ content: 'Half of' }), choice({}, finish)])));
    const failure = await failureOf(turn(wire, double()));
    expect(failure).toMatchObject({ kind: 'overloaded', spent: { estimated: true } });
  },
);

test('a window that is full is not the limit of the step', async () => {
  double().next(streamed(wire, events([choice({ content: 'Half of' }), choice({}, 'model_length')])));
  expect(await replyOf(turn(wire, double()))).toMatchObject({ stopReason: 'window-full' });
});
