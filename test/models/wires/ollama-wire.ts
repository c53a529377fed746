/** Ollama's `/api/chat` as it stands on the wire. */
import { ollamaProvider } from '../../../world/models/ollama/ollama.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { json, word, type Said, type Sent, type Wire } from './wire.ts';

const line = (data: JsonObject): string => `${JSON.stringify(data)}\n`;

function events({ parts, reason, usage, model = 'qwen3:8b' }: Said): string[] {
  const said = (message: JsonObject): string =>
    line({
      model,
      created_at: '2026-11-24T00:00:00Z',
      message: { role: 'assistant', content: '', ...message },
      done: false,
    });
  const { input, output } = usage ?? { input: 11, output: 7 };
  return [
    ...parts.flatMap((part) => {
      if ('text' in part) return part.text.map((content) => said({ content }));
      if ('thinking' in part) return part.thinking.map((thinking) => said({ thinking }));
      if ('redacted' in part) return [];
      const { id, name, pieces } = part.call;
      const text = pieces.join('');
      // A call comes whole, with its arguments as an object.
      const given = text === '' ? {} : (JSON.parse(text) as Json);
      return [said({ tool_calls: [{ id, function: { index: 0, name, arguments: given } }] })];
    }),
    line({
      model,
      created_at: '2026-11-24T00:00:01Z',
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: reason,
      total_duration: 1,
      ...(usage === null ? {} : { prompt_eval_count: input, eval_count: output }),
    }),
  ];
}

function whole({ parts, reason, usage, model = 'qwen3:8b' }: Said): JsonObject {
  const { input, output } = usage ?? { input: 11, output: 7 };
  const calls = parts.flatMap((part) =>
    'call' in part
      ? [
          {
            id: part.call.id,
            function: { name: part.call.name, arguments: JSON.parse(part.call.pieces.join('')) as Json },
          },
        ]
      : [],
  );
  const content = parts.map((part) => ('text' in part ? part.text.join('') : '')).join('');
  return {
    model,
    message: { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
    done: true,
    done_reason: reason,
    ...(usage === null ? {} : { prompt_eval_count: input, eval_count: output }),
  };
}

function messages(body: JsonObject): Sent[] {
  return (body['messages'] as JsonObject[]).map((message) => {
    const { role, thinking, tool_calls: calls = [], tool_call_id: id, images = [] } = message;
    const content = word(message['content']);
    const isResult = role === 'tool';
    return {
      role: word(role),
      texts: isResult || content === '' ? [] : [content],
      thoughts: typeof thinking === 'string' ? [thinking] : [],
      redacted: [],
      calls: (calls as JsonObject[]).map((call) => {
        const called = call['function'] as JsonObject;
        return { id: word(call['id']), name: word(called['name']), input: called['arguments'] };
      }),
      results: isResult
        ? [{ id: word(id), text: content.replace(/^Error: /, ''), isError: content.startsWith('Error: ') }]
        : [],
      images: (images as string[]).map(word),
    };
  });
}

const error = (sentence: string): string => JSON.stringify({ error: sentence });

export const ollamaWire: Wire = {
  kind: 'ollama',
  model: 'qwen3:8b',
  path: '/api/chat',
  open: (url) => ollamaProvider({ name: 'ollama', address: url }),
  events,
  whole,
  streamType: 'application/x-ndjson',
  reasons: { end: 'stop', calls: 'stop', length: 'length' },
  can: { thinkingSignatures: false, redaction: false, cutArguments: false, cachedTokens: false },
  overloadEvent: `${error('llama runner process has terminated: exit status 2')}\n`,
  errors: {
    auth: { status: 401, headers: json, pieces: [error('unauthorized')] },
    unknownModel: { status: 404, headers: json, pieces: [error("model 'nothing' not found")] },
    overflow: {
      status: 400,
      headers: json,
      pieces: [error('the input length exceeds the context length: 210000 tokens, 200000 allowed')],
    },
    overloaded: {
      status: 503,
      headers: json,
      pieces: [error('server busy, please try again. maximum pending requests exceeded')],
    },
    rateLimited: (headers) => ({ status: 429, headers: { ...json, ...headers }, pieces: [error('too many requests')] }),
    spent: null,
  },
  messages,
  toolNames: (body) =>
    ((body['tools'] ?? []) as JsonObject[]).map((tool) => word((tool['function'] as JsonObject)['name'])),
  schemaOf: (body) => body['format'],
};
