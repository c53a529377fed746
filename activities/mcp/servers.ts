/**
 * The MCP servers of a worker's project: started when a step first needs one, shared by all runs, ended with
 * the worker.
 *
 * - A1 Before a tool is called, what its server has is held against what a person accepted: names,
 *      descriptions and schemas, of all its tools. A server that has others is held.
 * - A2 What a definition is read with, and what models are told of a tool, is what was accepted, and never
 *      what a server says now.
 */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { schemaFaults, type SchemaFaults } from '../../language/params/schema-faults.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { callValue } from '../../world/mcp/call-value.ts';
import { McpConnection, type CallLimits } from '../../world/mcp/connection.ts';
import { type McpTool, type OfferedTool, type ServerSettings, notAccepted } from '../../world/mcp/settings.ts';

export interface McpParts {
  servers: { readonly [name: string]: ServerSettings };
  /** Where their processes start. */
  project: string;
  /** Of its tools and of how it is started. */
  digestOf(server: string, tools: readonly McpTool[]): string;
  /** Null: never accepted. */
  accepted(server: string): { digest: string; tools: readonly McpTool[] } | null;
}

export class McpServers {
  readonly #parts: McpParts;
  readonly #connections: ReadonlyMap<string, McpConnection>;

  constructor(parts: McpParts) {
    this.#parts = parts;
    this.#connections = new Map(
      Object.entries(parts.servers).map(([name, settings]) => [name, new McpConnection(name, settings, parts.project)]),
    );
  }

  command({ command, server, tool, entry }: OfferedTool): Command {
    const { name, description, inputSchema } = tool;
    const check = schemaFaults(inputSchema);
    return defineCommand({
      name: command,
      description: description ?? `Calls "${name}" of the MCP server "${server}".`,
      ...entry,
      secrets: 'values',
      params: Value,
      parameters: { ...inputSchema },
      result: Value,
      run: (params, context) =>
        this.#call({ command, server, name, check }, isJsonObject(params) ? params : {}, context),
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  async #call(
    { command, server, name, check }: { command: string; server: string; name: string; check: SchemaFaults },
    params: JsonObject,
    context: CommandContext,
  ): Promise<Json> {
    const faults = check(params);
    if (faults.length > 0) {
      const said = faults.map(({ path, message }) => `${['params', ...path].join('.')} ${message}`).join('; ');
      throw new Failure('COMMAND_PARAMS_INVALID', `${command}: ${said}; correct the step's params`);
    }
    const connection = this.#connections.get(server);
    if (connection === undefined) throw new Error(`bug: the MCP server "${server}" is not configured`);
    const { signal, timeoutMs, confinement } = context;
    const limits = { signal, timeoutMs };
    await this.#refuseChanged(connection, limits);
    return callValue(command, await connection.call(name, params, { ...limits, root: confinement?.root }));
  }

  async #refuseChanged(connection: McpConnection, limits: CallLimits): Promise<void> {
    const { name } = connection;
    const accepted = this.#parts.accepted(name);
    if (accepted === null) throw notAccepted(name, 'they never were');
    const { digest } = accepted;
    const fit = (tools: readonly McpTool[]): boolean => this.#parts.digestOf(name, tools) === digest;
    const tools = await connection.tools(limits, { under: digest, fit });
    if (!fit(tools))
      throw notAccepted(name, changeText(accepted.tools, tools) || 'it is started or reached in another way');
  }
}

const named = (tools: readonly McpTool[]): Map<string, string> =>
  new Map(tools.map((tool) => [tool.name, JSON.stringify(tool)]));

function changeText(before: readonly McpTool[], after: readonly McpTool[]): string {
  const [old, now] = [named(before), named(after)];
  const parts = [
    ['new', [...now.keys()].filter((name) => !old.has(name))],
    ['gone', [...old.keys()].filter((name) => !now.has(name))],
    ['changed', [...now.keys()].filter((name) => old.has(name) && old.get(name) !== now.get(name))],
  ] as const;
  return parts
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${names.join(', ')}`)
    .join('; ');
}
