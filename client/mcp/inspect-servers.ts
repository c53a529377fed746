/** What the MCP servers of a project have now, beside what was accepted of them. Each is started or asked for it, and ended. */
import { McpConnection } from '../../world/mcp/connection.ts';
import type { ServerSettings } from '../../world/mcp/settings.ts';
import { acceptedIn, acceptTools, toolsDigest, type McpTool } from '../../services/config/accepted-tools.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { toolChanges, type ToolChange } from './tool-changes.ts';

const answersWithinMs = 30_000;

export interface ServerReport {
  server: string;
  /** `held`: its tools are not those that were accepted. */
  state: 'accepted' | 'held' | 'new' | 'unreachable';
  tools: string[];
  /** What is to be accepted, as it was shown; null: it cannot be reached. */
  digest: string | null;
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
    const digest = toolsDigest(tools, settings);
    const state = before === undefined ? 'new' : before.digest === digest ? 'accepted' : 'held';
    return { server, state, tools: tools.map(({ name }) => name), digest: shortDigest(digest), changes, accepted };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { server, state: 'unreachable', tools: [], digest: null, changes: [], accepted, message };
  }
}

/** As people copy it. */
const shortDigest = (digest: string): string => digest.slice(0, 32);

/**
 * Accepts what was shown under the digest. Null where the server has other tools now, or is started in another way;
 * throws where it cannot be reached.
 */
export async function acceptServer(
  { home, project, servers }: Inspected,
  server: string,
  { digest, by }: { digest: string; by: string },
): Promise<{ tools: McpTool[]; changes: ToolChange[] } | null> {
  const settings = servers[server];
  if (settings === undefined) throw new Error(`bug: there is no MCP server "${server}"`);
  const before = acceptedIn(home, project)[server]?.tools ?? [];
  const tools = await toolsOf(server, settings, project);
  if (shortDigest(toolsDigest(tools, settings)) !== digest) return null;
  acceptTools(home, { project, server, tools, start: settings, by });
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
