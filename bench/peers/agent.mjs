// The turns and calls of an agent, as bench/agents/bare.ts has them.
import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';

const url = process.env.BENCH_MODEL_URL;
const project = process.env.BENCH_PROJECT;
const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
const parameters = { type: 'object', properties: {} };
const tools = ['code_read', 'bench_look', 'bench_append'].map((name) => ({
  type: 'function',
  function: { name, description: 'Looks at something.', parameters },
}));

export const modelOf = ({ turns, tool, file, bytes, delayMs }) =>
  ['agent', turns, tool, file, bytes, delayMs].join('_');
export const promptOf = (token) => `Look around. ${token}`;

export async function askModel(model, messages) {
  const stream = await client.chat.completions.create({
    model,
    messages,
    tools,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  const call = { id: '', name: '', arguments: '' };
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
  const calls = [{ id, type: 'function', function: { name, arguments: given } }];
  return { message: { role: 'assistant', content: null, tool_calls: calls }, call };
}

export async function performCall({ name, arguments: given }) {
  const { path, token, n, bytes } = JSON.parse(given);
  if (name === 'code_read') return readFile(join(project, path), 'utf8');
  if (name === 'bench_append') return append(path, n, bytes);
  return (await fetch(`${url}/look?token=${token}&n=${n}`)).text();
}

/** A line that is on the disk when it answers, and a result of so many bytes that no database makes smaller. */
async function append(path, n, bytes) {
  const file = await open(join(project, path), 'a');
  try {
    await file.write(`line ${n}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return randomBytes(bytes).toString('base64').slice(0, bytes);
}

export const say = (value) => process.stdout.write(`\n${JSON.stringify(value)}\n`);
