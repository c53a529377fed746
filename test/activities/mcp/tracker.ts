/** The servers that the tests of MCP call: one on stdio, whose tools a file states, and one over HTTP. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

export const PROGRAM = join(import.meta.dirname, 'tracker-server.mjs');

export class Tracker {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.says('Reads a ticket.');
  }

  /** What "ticket" says of itself from the next start, or the next "rewrite", on. */
  says(description: string): void {
    writeFileSync(join(this.#folder, 'tracker.json'), JSON.stringify({ description }));
  }

  get args(): string[] {
    return [PROGRAM, join(this.#folder, 'tracker.json'), join(this.#folder, 'tracker.log')];
  }

  /** What its processes noted. */
  get notes(): string[] {
    const file = join(this.#folder, 'tracker.log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Ids of the processes that were started. */
  get processes(): number[] {
    return this.notes.flatMap((line) => (line.startsWith('started ') ? [Number(line.slice(8))] : []));
  }
}

export interface HttpTracker {
  url: string;
  /** Headers of the requests that came. */
  authorizations: (string | undefined)[];
  close(): Promise<void>;
}

export async function openHttpTracker(): Promise<HttpTracker> {
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    void (async () => {
      const mcp = new McpServer({ name: 'remote', version: '1.0.0' });
      mcp.registerTool('add', { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      }));
      const transport = new StreamableHTTPServerTransport({});
      response.on('close', () => void mcp.close());
      await mcp.connect(transport);
      await transport.handleRequest(request, response, await bodyOf(request));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, authorizations, close: () => closed(server) };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : JSON.parse(text);
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
