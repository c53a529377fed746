/** The bare provider calls: the same turns and calls in a loop in memory, through the same SDK. */
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { answerOf, lineOf, modelOf, promptOf, type AgentSpec } from './protocol.ts';

export interface Called {
  id: string;
  name: string;
  arguments: string;
}

/** As the wire has it. */
export type ChatMessage = OpenAI.ChatCompletionMessageParam;

const parameters = { type: 'object', properties: {} };
const TOOLS: OpenAI.ChatCompletionTool[] = ['code_read', 'bench_look', 'bench_append'].map((name) => ({
  type: 'function',
  function: { name, description: 'Looks at something.', parameters },
}));

export function clientOf(url: string): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
}

/** One turn; without a call it is the answer. */
export async function askModel(
  client: OpenAI,
  model: string,
  messages: ChatMessage[],
): Promise<{ message: ChatMessage; call: Called | null }> {
  const stream = await client.chat.completions.create({
    model,
    messages,
    tools: TOOLS,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  const call: Called = { id: '', name: '', arguments: '' };
  for await (const { choices } of stream) {
    const delta = choices[0]?.delta;
    content += delta?.content ?? '';
    for (const part of delta?.tool_calls ?? []) {
      call.id ||= part.id ?? '';
      call.name ||= part.function?.name ?? '';
      call.arguments += part.function?.arguments ?? '';
    }
  }
  if (call.id === '') return { message: { role: 'assistant', content }, call: null };
  const { id, name, arguments: given } = call;
  return {
    message: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
    },
    call,
  };
}

export async function perform(
  { name, arguments: given }: Called,
  at: { url: string; project: string },
): Promise<string> {
  const input = JSON.parse(given) as { path?: string; token?: string; n?: number; bytes?: number };
  const path = join(at.project, input.path ?? '');
  if (name === 'code_read') return readFile(path, 'utf8');
  if (name === 'bench_append') return append(path, input.n ?? 0, input.bytes ?? 0);
  const found = await fetch(`${at.url}/look?token=${input.token}&n=${input.n}`);
  return found.text();
}

/** The line is on the disk when it answers. */
export async function append(path: string, n: number, bytes: number): Promise<string> {
  const file = await open(path, 'a');
  try {
    await file.write(lineOf(n));
    await file.sync();
  } finally {
    await file.close();
  }
  return answerOf(bytes);
}

export async function runBare(spec: AgentSpec, client: OpenAI, at: { url: string; project: string }): Promise<number> {
  const startedAt = performance.now();
  const messages: ChatMessage[] = [{ role: 'user', content: promptOf(spec.token) }];
  for (;;) {
    const { message, call } = await askModel(client, modelOf(spec), messages);
    messages.push(message);
    if (call === null) return performance.now() - startedAt;
    messages.push({ role: 'tool', tool_call_id: call.id, content: await perform(call, at) });
  }
}
