/** What is known of an MCP server, and of the tools that it has. */
import type { CommandEntry } from '../../language/catalogue.ts';
import type { Json } from '../../language/json.ts';

export type ServerSettings =
  | {
      command: string;
      args: readonly string[];
      env: { readonly [name: string]: string };
      cwd?: string | undefined;
    }
  | { url: string; headers: { readonly [name: string]: string } };

/** A tool as its server describes it. */
export interface McpTool {
  name: string;
  description?: string | undefined;
  inputSchema: { [key: string]: Json };
  outputSchema?: { [key: string]: Json } | undefined;
  annotations?: { [key: string]: Json } | undefined;
}

/** A tool that was accepted, as the command that it is. */
export interface OfferedTool {
  command: string;
  server: string;
  tool: McpTool;
  entry: CommandEntry;
}
