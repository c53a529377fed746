// An MCP server on stdio whose answers are what strangers have written: the text is given with it.
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as z from 'zod';

const [letter = '', posted = ''] = process.argv.slice(2);
const server = new McpServer({ name: 'mailbox', version: '1.0.0' });
server.registerTool('letters', { description: 'Reads the letters.' }, () => ({
  content: [{ type: 'text', text: letter }],
}));
server.registerTool('post', { description: 'Posts a letter.', inputSchema: { text: z.string() } }, ({ text }) => {
  appendFileSync(posted, `${text}\n`);
  return { content: [{ type: 'text', text: 'posted' }] };
});
await server.connect(new StdioServerTransport());
process.stdin.on('end', () => process.exit(0));
