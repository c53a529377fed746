// The turns and calls of an agent, as bench/agents/bare.ts has them, and what every peer measures with them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';

const url = process.env.BENCH_MODEL_URL;
const project = process.env.BENCH_PROJECT;
const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
const parameters = { type: 'object', properties: {} };
const tools = ['code_read', 'bench_look'].map((name) => ({
  type: 'function',
  function: { name, description: 'Looks at something.', parameters },
}));

export const modelOf = ({ turns, tool, file, delayMs }) => ['agent', turns, tool, file, delayMs].join('_');
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

export async function perform({ name, arguments: given }) {
  const { path, token, n } = JSON.parse(given);
  if (name === 'code_read') return readFile(join(project, path), 'utf8');
  return (await fetch(`${url}/look?token=${token}&n=${n}`)).text();
}

async function inParallel(count, width, run) {
  const times = [];
  let left = count;
  const startedAt = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await run();
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return { times: times.sort((a, b) => a - b), wallMs: performance.now() - startedAt };
}

let made = 0;
/** `run`: one agent from start to end. `stored`: bytes that the engine has kept so far. */
export async function measure({ run, stored }, { alone, together, width }) {
  const mark = `${process.pid}-${Date.now()}`;
  const short = () => run({ turns: 10, tool: 'read', file: 'notes.txt', delayMs: 0, token: `${mark}-${(made += 1)}` });
  await inParallel(Math.max(4, Math.floor(alone / 2)), 4, short);
  const { times } = await inParallel(alone, 1, short);
  const before = await stored();
  const { wallMs } = await inParallel(together, width, short);
  const bytes = ((await stored()) - before) / together;
  const longBefore = await stored();
  const longMs = (
    await inParallel(1, 1, () =>
      run({ turns: 100, tool: 'read', file: 'large.txt', delayMs: 0, token: `${mark}-long` }),
    )
  ).wallMs;
  const longBytes = (await stored()) - longBefore;
  return {
    p50: times[Math.floor(times.length / 2)],
    turnsPerSecond: (together * 10 * 1000) / wallMs,
    bytes,
    longMs,
    longBytes,
  };
}

export const say = (value) => process.stdout.write(`\n${JSON.stringify(value)}\n`);
