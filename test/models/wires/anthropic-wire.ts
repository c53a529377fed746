/** Anthropic's Messages API as it stands on the wire. */
import { anthropicProvider } from '../../../world/models/anthropic/anthropic.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { json, word, type Part, type Said, type Sent, type Wire } from './wire.ts';

const event = (data: JsonObject): string => `event: ${word(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;

const error = (type: string, message: string, details?: JsonObject): string =>
  JSON.stringify({ type: 'error', error: { type, message, ...defined({ details }) } });

function begun(part: Part): JsonObject {
  if ('text' in part) return { type: 'text', text: '', citations: null };
  if ('thinking' in part) return { type: 'thinking', thinking: '', signature: '' };
  if ('redacted' in part) return { type: 'redacted_thinking', data: part.redacted };
  return { type: 'tool_use', id: part.call.id, name: part.call.name, input: {} };
}

function deltas(part: Part): JsonObject[] {
  if ('text' in part) return part.text.map((text) => ({ type: 'text_delta', text }));
  if ('redacted' in part) return [];
  if ('call' in part) return part.call.pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return [
    ...part.thinking.map((thinking) => ({ type: 'thinking_delta', thinking })),
    ...(part.signature ?? []).map((signature) => ({ type: 'signature_delta', signature })),
  ];
}

function blocks(parts: readonly Part[], interleaved: boolean): string[] {
  const starts = parts.map((part, index) => event({ type: 'content_block_start', index, content_block: begun(part) }));
  const middles = parts.map((part, index) =>
    deltas(part).map((delta) => event({ type: 'content_block_delta', index, delta })),
  );
  const stops = parts.map((_, index) => event({ type: 'content_block_stop', index }));
  if (!interleaved)
    return parts.flatMap((_, index) => [starts[index] ?? '', ...(middles[index] ?? []), stops[index] ?? '']);
  const longest = Math.max(...middles.map((middle) => middle.length));
  const turns = Array.from({ length: longest }, (_, at) => middles.flatMap((middle) => middle.slice(at, at + 1)));
  return [...starts, ...turns.flat(), ...stops];
}

function events({ parts, reason, usage, model = 'claude-sonnet-5-5' }: Said, interleaved = false): string[] {
  const counted = usage === null ? {} : usageOf(usage);
  return [
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // What it says first is less than what it says at the end.
        usage: usage === null ? {} : { ...counted, output_tokens: 1 },
      },
    }),
    event({ type: 'ping' }),
    ...blocks(parts, interleaved),
    event({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: counted }),
    event({ type: 'message_stop' }),
  ];
}

function whole({ parts, reason, usage, model = 'claude-sonnet-5-5' }: Said): JsonObject {
  const content = parts.map((part): JsonObject => {
    if ('text' in part) return { type: 'text', text: part.text.join('') };
    if (!('call' in part)) return begun(part);
    const { id, name, pieces } = part.call;
    return { type: 'tool_use', id, name, input: JSON.parse(pieces.join('')) as Json };
  });
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reason,
    ...(usage === null ? {} : { usage: usageOf(usage) }),
  };
}

function usageOf(usage: NonNullable<Said['usage']> = { input: 11, output: 7 }): JsonObject {
  const { input, output, cacheRead = 0, cacheWrite = 0, thinking = 0 } = usage;
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens_details: { thinking_tokens: thinking },
  };
}

function messages(body: JsonObject): Sent[] {
  return (body['messages'] as JsonObject[]).map(({ role, content }) => {
    const list = content as JsonObject[];
    const of = (type: string): JsonObject[] => list.filter((block) => block['type'] === type);
    return {
      role: word(role),
      texts: of('text').map(({ text }) => word(text)),
      thoughts: of('thinking').map(({ thinking, signature }) => `${word(thinking)}|${word(signature)}`),
      redacted: of('redacted_thinking').map(({ data }) => word(data)),
      calls: of('tool_use').map(({ id, name, input }) => ({ id: word(id), name: word(name), input })),
      results: of('tool_result').map((result) => ({
        id: word(result['tool_use_id']),
        text: textIn(result['content']),
        isError: result['is_error'] === true,
      })),
      images: [
        ...of('image'),
        ...of('tool_result').flatMap((result) =>
          (result['content'] as JsonObject[]).filter((block) => block['type'] === 'image'),
        ),
      ].map(({ source }) => word((source as JsonObject)['data'])),
    };
  });
}

const textIn = (content: Json | undefined): string =>
  (content as JsonObject[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('');

export const anthropicWire: Wire = {
  kind: 'anthropic',
  model: 'claude-sonnet-5-5',
  path: '/v1/messages',
  open: (url) =>
    anthropicProvider({ name: 'anthropic', apiKey: 'key-of-a-test', baseUrl: url, keyVariable: 'ANTHROPIC_API_KEY' }),
  events,
  whole,
  streamType: 'text/event-stream; charset=utf-8',
  reasons: { end: 'end_turn', calls: 'tool_use', length: 'max_tokens' },
  can: { thinkingSignatures: true, redaction: true, cutArguments: true, cachedTokens: true },
  overloadEvent: `event: error\ndata: ${error('overloaded_error', 'Overloaded')}\n\n`,
  errors: {
    auth: { status: 401, headers: json, pieces: [error('authentication_error', 'invalid x-api-key')] },
    unknownModel: { status: 404, headers: json, pieces: [error('not_found_error', 'model: claude-nothing')] },
    overflow: {
      status: 400,
      headers: json,
      pieces: [error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')],
    },
    overloaded: { status: 529, headers: json, pieces: [error('overloaded_error', 'Overloaded')] },
    rateLimited: (headers) => ({
      status: 429,
      headers: { ...json, ...headers },
      pieces: [error('rate_limit_error', 'slow down')],
    }),
    spent: {
      status: 429,
      headers: json,
      pieces: [error('rate_limit_error', 'limit reached', { error_code: 'enforced_spend_limit_reached' })],
    },
  },
  messages,
  toolNames: (body) => ((body['tools'] ?? []) as JsonObject[]).map(({ name }) => word(name)),
  schemaOf: (body) =>
    ((body['output_config'] as JsonObject | undefined)?.['format'] as JsonObject | undefined)?.['schema'],
};
