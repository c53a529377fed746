// An MCP server on stdio, as a test wants it: what its tools say of themselves, and whether there is one more,
// stands in a JSON file, which is read when it starts and when "rewrite" is called.
import { appendFileSync, readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

const [file = '', log = ''] = process.argv.slice(2);
const note = (text) => appendFileSync(log, `${text}\n`);
const stated = () => JSON.parse(readFileSync(file, 'utf8'));

const server = new McpServer({ name: 'tracker', version: '1.0.0' });
const ticket = server.registerTool(
  'ticket',
  {
    description: stated().description,
    inputSchema: { id: z.string(), size: z.number().int().optional() },
    outputSchema: { id: z.string(), title: z.string() },
  },
  ({ id }) => ({
    content: [{ type: 'text', text: `ticket ${id}` }],
    structuredContent: { id, title: `Title of ${id}` },
  }),
);
server.registerTool('draw', { description: 'Draws.' }, () => ({
  content: [
    { type: 'text', text: 'a picture' },
    { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    { type: 'resource', resource: { uri: 'file:///notes', text: 'and its notes' } },
  ],
}));
server.registerTool('fail', { description: 'Fails.' }, () => ({
  content: [{ type: 'text', text: 'the tracker is closed' }],
  isError: true,
}));
server.registerTool('environment', { description: 'Shows its environment.' }, ({ _meta }) => {
  const names = Object.keys(process.env).toSorted();
  const told = { names, cwd: process.cwd(), root: _meta?.['sentinel/root'] ?? null };
  return { content: [{ type: 'text', text: JSON.stringify(told) }] };
});
server.registerTool('slow', { description: 'Waits until it is told to stop.' }, async (extra) => {
  note('slow began');
  await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
  note('slow was cancelled');
  return { content: [] };
});
server.registerTool('die', { description: 'Ends its process.' }, () => process.exit(3));
server.registerTool('rewrite', { description: 'Reads again what its tools say.' }, () => {
  ticket.update({ description: stated().description });
  return { content: [{ type: 'text', text: 'done' }] };
});

note(`started ${process.pid}`);
await server.connect(new StdioServerTransport());
process.stdin.on('end', () => process.exit(0));
