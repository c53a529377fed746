/** What a worker has of its project's `sentinel.config`: its models, its commands, and the tools of its MCP servers. */
import type { Command } from '../operations/command.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import type { JudgedSystem } from '../runs/commands/project-systems.ts';
import { builtInCatalogue, builtInSettings } from '../systems/catalogue.ts';
import type { ChangingCommands } from '../operations/registry.ts';
import type { Failure } from '../world/failures/failures.ts';
import type { McpServers } from '../activities/mcp/servers.ts';
import { notAccepted } from '../world/mcp/settings.ts';
import { mcpTools, projectCommands } from '../runs/commands/project-commands.ts';
import { acceptedReader, toolsDigest, type AcceptedServers } from '../services/config/accepted-tools.ts';
import type { Config } from '../services/config/config.ts';
import {
  NO_PROJECT_CONFIG,
  runProjectConfig,
  trustedCode,
  type ProjectConfig,
} from '../services/config/project-config.ts';
import { configFileOf } from '../services/config/project-file.ts';
import { openOwn } from '../runs/own/open-own.ts';
import { policiesIn } from '../runs/policies.ts';
import type { Policy } from '../language/policy/policy.ts';

export interface ProjectParts {
  config: ProjectConfig;
  commands: Command[];
  systems: readonly JudgedSystem[];
  /** What holds for all runs of the project. */
  policies: Policy[];
  /** Absent: no MCP servers are configured. */
  changing?: ChangingCommands;
  close(): Promise<void>;
}

type Say = (text: string) => void;

/** Throws `ConfigError` where the file cannot be used. Starts no server. */
export async function openProject(
  { home, project }: Pick<Config, 'home' | 'project'>,
  store: Pick<Store, 'systems'>,
  say: Say,
): Promise<ProjectParts> {
  const file = project === null ? null : configFileOf(project.folder);
  if (project === null || file === null)
    return { config: NO_PROJECT_CONFIG, commands: [], systems: [], policies: [], close: async () => undefined };
  const code = trustedCode(file.path);
  const config = await runProjectConfig(code);
  const policies = policiesIn(config, file.path);
  const accepted = acceptedReader(home, project.folder);
  const builtIn = { catalogue: builtInCatalogue(), settings: builtInSettings() };
  const { notices } = projectCommands(builtIn, { path: file.path, config, accepted: accepted() });
  for (const text of [`loaded ${file.path}`, ...notices]) say(text);
  const { commands, systems, processes } = await openOwn({ code, config, builtIn, store, say });
  if (commands.length > 0) outliveRejections(say);
  if (Object.keys(config.mcpServers).length === 0)
    return { config, commands, systems, policies, close: () => processes.close() };
  // Its library takes a moment to load, which a project without such servers need not wait for.
  const { McpServers } = await import('../activities/mcp/servers.ts');
  const servers = new McpServers({
    servers: config.mcpServers,
    project: project.folder,
    digestOf(server, tools) {
      const start = config.mcpServers[server];
      if (start === undefined) throw new Error(`bug: the MCP server "${server}" is not configured`);
      return toolsDigest(tools, start);
    },
    accepted: (server) => accepted()[server] ?? null,
  });
  const close = async (): Promise<void> => {
    await Promise.all([servers.close(), processes.close()]);
  };
  return { config, commands, systems, policies, changing: acceptedCommands(config, accepted, servers), close };
}

/** Loading a configuration may leave a promise behind that is rejected later: the steps go on. */
function outliveRejections(say: Say): void {
  process.on('unhandledRejection', (reason) => {
    const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    say(`a promise that nobody waited for was rejected: ${text}`);
  });
}

/** The commands of the tools that are accepted now: another worker need not be started for them. */
function acceptedCommands(
  config: ProjectConfig,
  accepted: () => AcceptedServers,
  servers: McpServers,
): ChangingCommands {
  let known: { of: AcceptedServers; list: readonly Command[] } | null = null;
  return {
    list() {
      const of = accepted();
      if (known?.of !== of) {
        const { tools } = mcpTools(builtInCatalogue(), { config, accepted: of });
        known = { of, list: tools.map((tool) => servers.command(tool)) };
      }
      return known.list;
    },
    missing(name): Failure | null {
      const [family, server = ''] = name.split('/');
      if (family !== 'mcp' || !Object.hasOwn(config.mcpServers, server)) return null;
      const why = Object.hasOwn(accepted(), server) ? `there is no "${name}" among them` : 'they never were';
      return notAccepted(server, why);
    },
  };
}
