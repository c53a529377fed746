/** Chat completions of an OpenAI-compatible server as they stand on the wire. */
import { openAiProvider } from '../../../world/models/openai/openai.ts';
import type { JsonObject } from '../../../language/json.ts';
import { json, word, type Part, type Said, type Sent, type Wire } from './wire.ts';

const chunk = (data: JsonObject): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', ...data })}\n\n`;
const error = (code: string | null, message: string, more: JsonObject = {}): string =>
  JSON.stringify({ error: { message, code, ...more } });

function deltas(parts: readonly Part[], interleaved: boolean): JsonObject[] {
  let calls = 0;
  const all = parts.map((part): JsonObject[] => {
    if ('text' in part) return part.text.map((content) => ({ content }));
    if ('thinking' in part) return part.thinking.map((reasoning) => ({ reasoning_content: reasoning }));
    if ('redacted' in part) return [];
    const index = calls;
    calls += 1;
    const { id, name, pieces } = part.call;
    const first = { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    // Later pieces say an empty id and name, as many servers do.
    return [
      first,
      ...pieces.map((piece) => ({ tool_calls: [{ index, id: '', function: { name: '', arguments: piece } }] })),
    ];
  });
  if (!interleaved) return all.flat();
  const longest = Math.max(...all.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => all.flatMap((list) => list.slice(at, at + 1))).flat();
}

function events({ parts, reason, usage, model = 'some-model' }: Said, interleaved = false): string[] {
  const choice = (delta: JsonObject, finish: string | null = null): string =>
    chunk({ model, choices: [{ index: 0, delta, finish_reason: finish }] });
  return [
    choice({ role: 'assistant', content: '' }),
    ...deltas(parts, interleaved).map((delta) => choice(delta)),
    choice({}, reason),
    ...(usage === null ? [] : [chunk({ model, choices: [], usage: usageOf(usage) })]),
    'data: [DONE]\n\n',
  ];
}

function whole({ parts, reason, usage, model = 'some-model' }: Said): JsonObject {
  const content = parts.map((part) => ('text' in part ? part.text.join('') : '')).join('');
  const calls = parts.flatMap((part) =>
    'call' in part
      ? [
          {
            id: part.call.id,
            type: 'function',
            function: { name: part.call.name, arguments: part.call.pieces.join('') },
          },
        ]
      : [],
  );
  const message = { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: reason }],
    ...(usage === null ? {} : { usage: usageOf(usage) }),
  };
}

function usageOf(usage: NonNullable<Said['usage']> = { input: 11, output: 7 }): JsonObject {
  const { input, output, cacheRead = 0, thinking = 0 } = usage;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}

function messages(body: JsonObject): Sent[] {
  return (body['messages'] as JsonObject[]).map((message) => {
    const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
    const list: JsonObject[] = Array.isArray(content)
      ? (content as JsonObject[])
      : typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : [];
    const texts = list.filter(({ type }) => type === 'text').map(({ text }) => word(text));
    const isResult = role === 'tool';
    return {
      role: word(role),
      texts: isResult ? [] : texts,
      thoughts: [],
      redacted: [],
      calls: (calls as JsonObject[]).map((call) => {
        const called = call['function'] as JsonObject;
        return {
          id: word(call['id']),
          name: word(called['name']),
          input: JSON.parse(word(called['arguments'])) as unknown,
        };
      }),
      results: isResult
        ? [
            {
              id: word(id),
              text: texts.join('').replace(/^Error: /, ''),
              isError: texts.join('').startsWith('Error: '),
            },
          ]
        : [],
      images: list
        .filter(({ type }) => type === 'image_url')
        .map(({ image_url: image }) => word((image as JsonObject)['url']).replace(/^data:image\/png;base64,/, '')),
    };
  });
}

export const openAiWire: Wire = {
  kind: 'openai',
  model: 'some-model',
  path: '/v1/chat/completions',
  open: (url) =>
    openAiProvider({
      name: 'openai',
      apiKey: 'key-of-a-test',
      baseUrl: `${url}/v1`,
      keyVariable: 'OPENAI_API_KEY',
      isLocal: false,
    }),
  events,
  whole,
  streamType: 'text/event-stream',
  reasons: { end: 'stop', calls: 'tool_calls', length: 'length' },
  can: { thinkingSignatures: false, redaction: false, cutArguments: true, cachedTokens: true },
  overloadEvent: `data: ${error('server_error', 'The server is overloaded')}\n\n`,
  errors: {
    auth: { status: 401, headers: json, pieces: [error('invalid_api_key', 'Incorrect API key provided')] },
    unknownModel: { status: 404, headers: json, pieces: [error('model_not_found', 'The model `x` does not exist')] },
    overflow: {
      status: 400,
      headers: json,
      pieces: [
        error(
          'context_length_exceeded',
          "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
        ),
      ],
    },
    overloaded: { status: 503, headers: json, pieces: [error('server_error', 'The server is overloaded')] },
    rateLimited: (headers) => ({
      status: 429,
      headers: { ...json, ...headers },
      pieces: [error('rate_limit_exceeded', 'Rate limit reached')],
    }),
    spent: { status: 429, headers: json, pieces: [error('insufficient_quota', 'You exceeded your current quota')] },
  },
  messages,
  toolNames: (body) =>
    ((body['tools'] ?? []) as JsonObject[]).map((tool) => word((tool['function'] as JsonObject)['name'])),
  schemaOf: (body) =>
    ((body['response_format'] as JsonObject | undefined)?.['json_schema'] as JsonObject | undefined)?.['schema'],
};
