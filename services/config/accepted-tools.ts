/**
 * The tools of MCP servers that a person has accepted, by project and server. They are kept in the home,
 * which no command of a run reads or writes: a run cannot accept for itself.
 */
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { McpServers } from '../commands/mcp-settings.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { ConfigError } from '../home/config-error.ts';
import { readHomeState, writeHomeState } from '../home/home-state.ts';
import { makeHome } from '../home/own-home.ts';

const Schema = z.record(z.string(), z.json());
const Tool = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  inputSchema: Schema,
  outputSchema: Schema.optional(),
  /** What it says of its effects. */
  annotations: Schema.optional(),
});
export type McpTool = z.infer<typeof Tool>;

const Accepted = z.strictObject({ digest: z.string(), tools: z.array(Tool), by: z.string(), at: z.string() });
export type AcceptedTools = z.infer<typeof Accepted>;

export interface AcceptedServers {
  readonly [server: string]: AcceptedTools;
}

const Kept = z.record(z.string(), z.record(z.string(), Accepted));

const TOOLS_FILE = 'mcp.json';
const fileIn = (home: string): string => join(home, TOOLS_FILE);

/** How a server is started or reached. */
type Start = McpServers[string];

/**
 * All that is held against what was accepted: the tools, in whatever order, and how their server is started or
 * reached, since another program can say the same of itself. Values of its environment and headers are secrets that
 * people change; their names count.
 */
export function toolsDigest(tools: readonly McpTool[], start: Start): string {
  const how =
    'url' in start
      ? { url: start.url, headers: Object.keys(start.headers).toSorted() }
      : { command: start.command, args: start.args, cwd: start.cwd ?? null, env: Object.keys(start.env).toSorted() };
  return contentHash({ tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)), how });
}

export function acceptedIn(home: string, project: string): AcceptedServers {
  return readKept(home)[realOf(project)] ?? {};
}

/** Reads the file again when it was written. */
export function acceptedReader(home: string, project: string): () => AcceptedServers {
  let known: { stamp: string; accepted: AcceptedServers } | null = null;
  return () => {
    const found = statSync(fileIn(home), { throwIfNoEntry: false });
    const stamp = found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (known?.stamp !== stamp) known = { stamp, accepted: acceptedIn(home, project) };
    return known.accepted;
  };
}

export function acceptTools(
  home: string,
  {
    project,
    server,
    tools,
    start,
    by,
  }: { project: string; server: string; tools: readonly McpTool[]; start: Start; by: string },
): AcceptedTools {
  makeHome(home);
  const kept = readKept(home);
  const accepted = { digest: toolsDigest(tools, start), tools: [...tools], by, at: new Date().toISOString() };
  const key = realOf(project);
  writeHomeState(home, TOOLS_FILE, { ...kept, [key]: { ...kept[key], [server]: accepted } });
  return accepted;
}

function readKept(home: string): z.infer<typeof Kept> {
  try {
    // Null: nothing was accepted yet.
    return Kept.parse(readHomeState(home, TOOLS_FILE) ?? {});
  } catch {
    throw new ConfigError(
      `${fileIn(home)} cannot be read: take it away, and accept the tools of the MCP servers again ("sentinel mcp accept SERVER").`,
    );
  }
}

function realOf(project: string): string {
  try {
    return realpathSync(project);
  } catch {
    return project;
  }
}
