/** What an MCP server answers over HTTP is held to the bound of a message, as what one on stdio says is. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { McpConnection } from '../../../world/mcp/connection.ts';

const MIB = 1024 * 1024;
const greeting = (id: number) => ({
  jsonrpc: '2.0',
  id,
  result: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
});
const tools = (id: number, description: string) => ({
  jsonrpc: '2.0',
  id,
  result: { tools: [{ name: 'one', description, inputSchema: { type: 'object' } }] },
});

/** Writes until whoever asked has enough; how much that was. */
async function flood(response: ServerResponse): Promise<void> {
  const piece = Buffer.alloc(MIB, 'x');
  for (let mib = 0; mib < 200 && !response.destroyed; mib += 1) {
    sent = mib;
    if (!response.write(piece))
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
  }
  response.end();
}
let sent = 0;

async function serverThat(lists: (response: ServerResponse, id: number) => void): Promise<McpConnection> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { method, id = 0 } = JSON.parse(body) as { method: string; id?: number };
      if (method === 'tools/list') return lists(response, id);
      if (method !== 'initialize') return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(greeting(id)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const connection = new McpConnection('far', { url, headers: {} }, '/nonexistent');
  onTestFinished(async () => {
    await connection.close();
    server.closeAllConnections();
    server.close();
  });
  return connection;
}

const limits = { signal: new AbortController().signal, timeoutMs: 10_000 };
const json = { 'content-type': 'application/json' };
const stream = { 'content-type': 'text/event-stream' };

test.each<[string, object, string]>([
  ['as one value', json, '{"jsonrpc":"2.0","id":1,"x":"'],
  ['as an event', stream, 'data: "'],
])('an answer without an end is cut off: %s', async (_how, headers, begin) => {
  const connection = await serverThat((response) => {
    response.writeHead(200, headers as Record<string, string>).write(begin);
    void flood(response);
  });
  await expect(connection.tools(limits)).rejects.toMatchObject({ code: expect.any(String) as string });
  expect(sent).toBeLessThan(100);
});

test.each([5, 40])('and an answer of ordinary messages is read, also where they are %i MiB together', async (mib) => {
  const connection = await serverThat((response, id) => {
    response.writeHead(200, stream);
    const notice = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'x'.repeat(MIB) },
    };
    for (let each = 0; each < mib; each += 1) response.write(`data: ${JSON.stringify(notice)}\n\n`);
    response.end(`data: ${JSON.stringify(tools(id, 'Does it.'))}\n\n`);
  });
  expect(await connection.tools(limits)).toMatchObject([{ name: 'one' }]);
});
