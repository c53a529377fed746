/**
 * A server that answers as an OpenAI-compatible one does, as quickly as it can, in a process of its own. What it
 * says depends on the request alone: the model's name says how many turns there are, and the messages which one
 * this is. It counts what each run asked for, and what was done at it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counted } from './protocol.ts';

interface ChatRequest {
  model: string;
  messages: { role: string; content?: unknown }[];
}

const counts = new Map<string, Counted>();

function countsOf(token: string): Counted {
  const known = counts.get(token) ?? { turns: [], calls: [] };
  counts.set(token, known);
  return known;
}

function count(list: number[], at: number): void {
  list[at] = (list[at] ?? 0) + 1;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://double');
  const token = url.searchParams.get('token') ?? '';
  if (url.pathname === '/counted') return end(response, 200, JSON.stringify(countsOf(token)));
  if (url.pathname === '/look') {
    count(countsOf(token).calls, Number(url.searchParams.get('n')));
    return end(response, 200, 'what is there');
  }
  if (url.pathname !== '/v1/chat/completions') return end(response, 404, '{}');
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  await chat(JSON.parse(Buffer.concat(pieces).toString('utf8')) as ChatRequest, response);
}

function calledBy(tool: string, { path, token, n, bytes }: { path: string; token: string; n: number; bytes: number }) {
  if (tool === 'read') return { name: 'code_read', input: { path } };
  if (tool === 'look') return { name: 'bench_look', input: { token, n } };
  return { name: 'bench_append', input: { path, n, bytes } };
}

async function chat({ model, messages }: ChatRequest, response: ServerResponse): Promise<void> {
  const [, turns = '1', tool = 'read', file = '', bytes = '0', delayMs = '0'] = model.split('_');
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const [, token = ''] = /Look around\. ([\w-]+)/.exec(JSON.stringify(messages)) ?? [];
  count(countsOf(token).turns, turn);
  if (Number(delayMs) > 0) await sleep(Number(delayMs));
  const called = calledBy(tool, { path: file, token, n: turn, bytes: Number(bytes) });
  const isLast = turn + 1 >= Number(turns);
  const delta = isLast
    ? { role: 'assistant', content: 'All has been looked at.' }
    : {
        role: 'assistant',
        content: '',
        tool_calls: [
          {
            index: 0,
            id: `call-${turn}`,
            type: 'function',
            function: { name: called.name, arguments: JSON.stringify(called.input) },
          },
        ],
      };
  const chunk = (choices: object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model, choices, ...more })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(
    chunk([{ index: 0, delta, finish_reason: null }]) +
      chunk([{ index: 0, delta: {}, finish_reason: isLast ? 'stop' : 'tool_calls' }]) +
      chunk([], {
        usage: { prompt_tokens: 100 * (turn + 1), completion_tokens: 10, total_tokens: 100 * (turn + 1) + 10 },
      }) +
      'data: [DONE]\n\n',
  );
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(text);
}

const server = createServer({ keepAlive: true }, (request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.on('disconnect', () => process.exit(0));
