/**
 * Sentinel as an MCP server: the agent of an editor lists and starts saved sentinels, sees how runs stand,
 * and steers them. What lets a run act is left to a person, unless whoever started the server says otherwise.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { addAnswering } from './serve-answers.ts';
import { addResources } from './serve-resources.ts';
import { addRuns } from './serve-runs.ts';
import { addSystems } from './serve-systems.ts';
import type { Served } from './served.ts';

const instructions =
  'Sentinel runs durable agent loops. List the saved sentinels, start one with run_sentinel, look at it with ' +
  'run_status, run_trace and run_logs, and see what runs ask with inbox. A person approves what runs want to do.';

/** Resolves when whoever is connected has gone. */
export async function serve(served: Served, transport: Transport): Promise<void> {
  const server = new McpServer({ name: 'sentinel', version: '0.1.0' }, { instructions });
  addRuns(server, served);
  addAnswering(server, served);
  addResources(server, served);
  await addSystems(server, served);
  const gone = new Promise<void>((resolve) => void Object.assign(server.server, { onclose: resolve }));
  await server.connect(transport);
  await gone;
}
