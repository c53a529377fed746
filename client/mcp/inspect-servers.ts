/** What the MCP servers of a project have now, beside what was accepted of them. Each is started or asked for it, and ended. */
import { McpConnection } from '../../activities/mcp/connection.ts';
import type { ServerSettings } from '../../activities/mcp/settings.ts';
import { acceptedIn, acceptTools, toolsDigest, type McpTool } from '../../services/config/accepted-tools.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { toolChanges, type ToolChange } from './tool-changes.ts';

const answersWithinMs = 30_000;

export interface ServerReport {
  server: string;
  /** `held`: its tools are not those that were accepted. */
  state: 'accepted' | 'held' | 'new' | 'unreachable';
  tools: string[];
  changes: ToolChange[];
  accepted: { by: string; at: string } | null;
  /** Why it cannot be reached. */
  message?: string;
}

export interface Inspected {
  home: string;
  project: string;
  servers: ProjectConfig['mcpServers'];
}

export async function inspectServer({ home, project, servers }: Inspected, server: string): Promise<ServerReport> {
  const before = acceptedIn(home, project)[server];
  const accepted = before === undefined ? null : { by: before.by, at: before.at };
  const settings = servers[server];
  if (settings === undefined) throw new Error(`bug: there is no MCP server "${server}"`);
  try {
    const tools = await toolsOf(server, settings, project);
    const changes = toolChanges(before?.tools ?? [], tools);
    const state = before === undefined ? 'new' : before.digest === toolsDigest(tools) ? 'accepted' : 'held';
    return { server, state, tools: tools.map(({ name }) => name), changes, accepted };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { server, state: 'unreachable', tools: [], changes: [], accepted, message };
  }
}

/** Accepts what the server has now; throws where it cannot be reached. */
export async function acceptServer(
  { home, project, servers }: Inspected,
  server: string,
  by: string,
): Promise<{ tools: McpTool[]; changes: ToolChange[] }> {
  const settings = servers[server];
  if (settings === undefined) throw new Error(`bug: there is no MCP server "${server}"`);
  const before = acceptedIn(home, project)[server]?.tools ?? [];
  const tools = await toolsOf(server, settings, project);
  acceptTools(home, { project, server, tools, by });
  return { tools, changes: toolChanges(before, tools) };
}

async function toolsOf(name: string, settings: ServerSettings, project: string): Promise<McpTool[]> {
  const connection = new McpConnection(name, settings, project);
  try {
    return await connection.tools({ signal: new AbortController().signal, timeoutMs: answersWithinMs });
  } finally {
    await connection.close();
  }
}
