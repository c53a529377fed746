/** What is known of an MCP server, and of the tools that it has and that a person accepted. */
import type { CommandEntry } from '../../language/catalogue.ts';
import type { Json } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';

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

/** Why the commands of an MCP server are held. */
export const notAccepted = (server: string, why: string): Failure =>
  new Failure(
    'MCP_NOT_ACCEPTED',
    `the tools of the MCP server "${server}" are not those that a person accepted (${why}): "sentinel mcp list" shows them with a digest, and "sentinel mcp accept ${server} DIGEST" accepts them`,
  );
