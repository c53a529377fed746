/** An agent over MCP, as an editor starts `sentinel mcp serve` for it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CLI, type Harness } from '../../harness/harness.ts';

export interface Agent {
  /** What the tool says; `refused: ` stands before a refusal. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

export async function connectAgent(harness: Harness, ...options: string[]): Promise<Agent> {
  const client = new Client({ name: 'an editor', version: '1.0.0' });
  const args = [CLI, 'mcp', 'serve', '--project', harness.project, ...options];
  const env = { ...process.env, ...harness.env, USER: 'ada' } as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return {
    async call(name, given) {
      const { content, isError = false } = await client.callTool({ name, arguments: given });
      return `${isError === true ? 'refused: ' : ''}${JSON.stringify(content)}`;
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      return contents.map((part) => ('text' in part ? part.text : '')).join('');
    },
    close: () => client.close(),
  };
}
