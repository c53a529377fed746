/** Servers that answer oddly: the rest works, and what is odd is named. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { callValue } from '../../../world/mcp/call-value.ts';
import { McpConnection } from '../../../world/mcp/connection.ts';
import type { JsonObject } from '../../../language/json.ts';
import { CompanyProxy } from '../../models/wires/proxy.ts';

const limits = { signal: new AbortController().signal, timeoutMs: 20_000 };
let server: Server | undefined;
let connection: McpConnection | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await connection?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function opened(
  results: Record<string, (params: JsonObject) => JsonObject>,
  url?: string,
): Promise<McpConnection> {
  server = createServer((asked, answer) => {
    void bodyOf(asked).then(({ id, method, params = {} }) => {
      if (id === undefined) return answer.writeHead(202).end();
      const known = typeof method === 'string' ? results[method] : undefined;
      const result = known?.(params as JsonObject) ?? {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      };
      return answer
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  connection = new McpConnection('odd', { url: url ?? `http://127.0.0.1:${port}/mcp`, headers: {} }, '/');
  return connection;
}

async function bodyOf(asked: IncomingMessage): Promise<JsonObject> {
  let text = '';
  for await (const piece of asked) text += String(piece);
  return text === '' ? {} : (JSON.parse(text) as JsonObject);
}

const plain = { name: 'plain', inputSchema: { type: 'object', properties: {} } };

test('a part of an unknown kind is named, and the others are there', async () => {
  const content = [{ type: 'text', text: 'said' }, { type: 'hologram', depth: 3 }, { text: 'no kind' }];
  const odd = await opened({ 'tools/call': () => ({ content }) });
  expect(callValue('mcp/odd/plain', await odd.call('plain', {}, limits))).toEqual({
    text: 'said',
    others: ['hologram', 'a part without a type'],
  });
});

test('a tool without a schema takes anything, and takes no other with it', async () => {
  const odd = await opened({ 'tools/list': () => ({ tools: [plain, { name: 'bare' }, { description: 'no name' }] }) });
  expect(await odd.tools(limits)).toEqual([plain, { name: 'bare', inputSchema: { type: 'object' } }]);
});

test('a cursor that comes back ends the list; one that never ends is said', async () => {
  const again = await opened({ 'tools/list': () => ({ tools: [plain], nextCursor: 'a' }) });
  expect(await again.tools(limits)).toEqual([plain]);
  await again.close();
  let page = 0;
  const endless = await opened({ 'tools/list': () => ({ tools: [plain], nextCursor: String((page += 1)) }) });
  await expect(endless.tools(limits)).rejects.toThrow('more than 50 pages');
});

test('a server elsewhere is asked through the proxy', async () => {
  const odd = await opened({ 'tools/list': () => ({ tools: [plain] }) }, 'http://odd.elsewhere.test/mcp');
  const { port } = (server as Server).address() as AddressInfo;
  const proxy = await new CompanyProxy({ port }).open();
  for (const name of ['http_proxy', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
  vi.stubEnv('http_proxy', `http://${proxy.address}`);
  expect(await odd.tools(limits)).toEqual([plain]);
  expect(proxy.asked).toContain('POST http://odd.elsewhere.test/mcp');
  await odd.close();
  await proxy.close();
});
