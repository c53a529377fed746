/**
 * The commands of a project beside the built-in ones: its own, and the tools of its MCP servers that were
 * accepted. What a run has to know of them is a value (language/catalogue.ts); their schemas are for whoever
 * reads a definition, and for the worker that performs them.
 */
import type { Catalogue, CommandEntry } from '../../language/catalogue.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { toolNameProblems } from '../../language/models/tool-names.ts';
import type { ParamCheck } from '../../language/params/param-check.ts';
import type { ResultSchemas } from '../../language/read/shapes/of-steps.ts';
import { schemaFaults } from '../../language/params/schema-faults.ts';
import { zodFaults } from '../../language/params/zod-faults.ts';
import { defined } from '../../language/defined.ts';
import { resultOf, type OwnCommand } from '../../services/commands/own-commands.ts';
import type { AcceptedServers, McpTool } from '../../services/config/accepted-tools.ts';
import type { BuiltIn } from './built-in.ts';
import { settingsFaults } from './system-settings.ts';
import { engineCode, isOfSentinel, judgedSystems, MCP } from './project-systems.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';

export interface ProjectCommands {
  /** The built-in ones included. */
  catalogue: Catalogue;
  params?: ParamCheck;
  results?: ResultSchemas;
  /** Where the project lies, where definitions of it are read. */
  root?: string;
  /** Definitions that systems bring, by name, as they are written. */
  shipped?: { readonly [name: string]: object };
  /** What whoever reads definitions should know, as sentences. */
  notices: string[];
}

export interface ConfiguredProject {
  /** Of its `sentinel.config`. */
  path: string;
  config: Pick<ProjectConfig, 'commands' | 'systems' | 'settings' | 'mcpServers'>;
  accepted: AcceptedServers;
}

/** Throws `ConfigError` where a command's name or a setting cannot be. */
export function projectCommands(engine: BuiltIn, project: ConfiguredProject): ProjectCommands {
  const { config, accepted } = project;
  const { catalogue: builtIn } = engine;
  refuseFaults(engine, project);
  const { tools, notices } = mcpTools(builtIn, project);
  const systems = judgedSystems(engine, config);
  const own = ownCommandsOf(builtIn, config);
  const entries = [
    ...own.map((command) => [command.name, ownEntry(command)] as const),
    ...tools.map(({ command, entry }) => [command, entry] as const),
  ];
  return {
    catalogue: { ...builtIn, ...Object.fromEntries(entries) },
    params: paramCheck(own, tools),
    results: resultSchemas(own),
    shipped: Object.assign(
      {},
      ...systems.filter(({ problem }) => problem === null).map(({ system }) => system.definitions),
    ) as {
      [name: string]: object;
    },
    notices: [
      ...Object.keys(config.mcpServers)
        .filter((server) => !Object.hasOwn(accepted, server))
        .map((server) => `${neverAccepted(server)}; "sentinel mcp list" shows them and their digest`),
      ...notices,
      ...systems.flatMap(({ problem }) => problem ?? []),
    ],
  };
}

/** Those of the project itself, and of its systems, whether these can be used or not: a definition may name them. */
export function ownCommandsOf(
  builtIn: Catalogue,
  { commands, systems }: Pick<ProjectConfig, 'commands' | 'systems'>,
): OwnCommand[] {
  const taken = new Set([...Object.keys(builtIn), ...commands.map(({ name }) => name)]);
  const ofSystems = systems.flatMap((system) => system.commands);
  return [
    ...commands,
    ...ofSystems.filter(
      ({ name }, index) => !taken.has(name) && ofSystems.findIndex((one) => one.name === name) === index,
    ),
  ];
}

const neverAccepted = (server: string): string =>
  `the tools of the MCP server "${server}" have not been accepted: "sentinel mcp accept ${server} DIGEST" does`;

/** Its code runs in the worker. */
export function ownEntry({ permission, speed, timeoutMs, textField, uses, failures, queue }: OwnCommand): CommandEntry {
  return {
    permission,
    speed,
    ...defined({ timeoutMs, textField, failures, queue }),
    ...(uses === undefined ? {} : { uses: defined(uses) }),
    unconfined: true,
  };
}

function refuseFaults(engine: BuiltIn, { path, config }: ConfiguredProject): void {
  const { catalogue: builtIn } = engine;
  const names = config.commands.map(({ name }) => name);
  const faults = names.flatMap((name, index) => {
    const at = `commands.${index}.name`;
    if (Object.hasOwn(builtIn, name)) return [`${at}: "${name}" is a command of Sentinel itself; choose another name`];
    const [family = '', ...rest] = name.split('/');
    if (rest.length > 0 && isOfSentinel(family, builtIn))
      return [`${at}: names that begin with ${family}/ are kept for Sentinel itself; choose another first part`];
    if (names.indexOf(name) < index) return [`${at}: "${name}" is there already; choose another name`];
    const others = [...Object.keys(builtIn), ...names.slice(0, index)];
    return toolNameProblems([...others, name]).map((fault) => `${at}: ${fault}`);
  });
  for (const [index, { failures = {} }] of config.commands.entries()) {
    const code = engineCode(failures, builtIn);
    if (code !== undefined)
      faults.push(`commands.${index}.failures.${code}: it is a code of Sentinel itself; choose another`);
  }
  faults.push(...settingsFaults(engine, config));
  if (faults.length > 0) throw new ConfigError(`${path}: ${faults.join('; ')}.`);
}

export interface McpCommand {
  command: string;
  server: string;
  tool: McpTool;
  entry: CommandEntry;
}

/** The tools of configured servers as they were accepted; those that cannot be commands are told of. */
export function mcpTools(
  builtIn: Catalogue,
  { config, accepted }: Pick<ConfiguredProject, 'config' | 'accepted'>,
): { tools: McpCommand[]; notices: string[] } {
  const taken = [...Object.keys(builtIn), ...ownCommandsOf(builtIn, config).map(({ name }) => name)];
  const tools: McpCommand[] = [];
  const notices: string[] = [];
  for (const [server, settings] of Object.entries(config.mcpServers)) {
    for (const tool of accepted[server]?.tools ?? []) {
      const command = `${MCP}/${server}/${tool.name}`;
      const fault = taken.includes(command)
        ? `there are two commands "${command}"`
        : (toolNameProblems([...taken, command])[0] ?? schemaProblem(tool));
      if (fault === null) {
        taken.push(command);
        const own = Object.hasOwn(settings.tools, tool.name) ? settings.tools[tool.name] : undefined;
        const permission = own?.permission ?? settings.permission;
        tools.push({ command, server, tool, entry: mcpEntry(permission, settings.timeoutMs) });
      } else notices.push(`the tool "${tool.name}" of the MCP server "${server}" is left out: ${fault}`);
    }
  }
  return { tools, notices };
}

const mcpEntry = (permission: CommandEntry['permission'], timeoutMs: number | undefined): CommandEntry => ({
  permission,
  speed: 'long',
  ...defined({ timeoutMs }),
  textField: 'text',
  unconfined: true,
});

function schemaProblem({ inputSchema }: McpTool): string | null {
  try {
    schemaFaults(inputSchema);
    return null;
  } catch (error) {
    return `its parameters are no JSON Schema (${error instanceof Error ? error.message : String(error)})`;
  }
}

function paramCheck(own: readonly OwnCommand[], tools: readonly McpCommand[]): ParamCheck {
  const checks = new Map<string, (params: JsonObject) => ReturnType<ParamCheck>>();
  for (const { name, params } of own) checks.set(name, (given) => zodFaults(params, given));
  for (const { command, tool } of tools) checks.set(command, (given) => schemaFaults(tool.inputSchema)(given));
  return (command, params) => checks.get(command)?.(params) ?? [];
}

function resultSchemas(own: readonly OwnCommand[]): ResultSchemas {
  const schemas = new Map<string, Json>();
  return (command) => {
    const found = own.find(({ name }) => name === command);
    if (found === undefined) return undefined;
    const known = schemas.get(command) ?? (resultOf(found.result) as Json);
    schemas.set(command, known);
    return known;
  };
}
