/** Every command that there is for a project, with all that it states of itself. */
import { findCommand, type Catalogue, type CommandEntry, type Permission } from '../../language/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import { commandTimeoutMs } from '../../language/limits.ts';
import { isRetryable, titleOf } from '../../language/stated-failures.ts';
import { mcpTools, ownCommandsOf, ownEntry } from '../../runs/commands/project-commands.ts';
import type { AcceptedServers } from '../../services/config/accepted-tools.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { parametersOf, resultOf, type OwnCommand } from '../../services/commands/own-commands.ts';
import { builtInCatalogue, builtInOutline, builtInParameters, builtInResults } from '../../systems/catalogue.ts';

export interface ListedCommand {
  name: string;
  /** Null: it is part of no system. */
  system: string | null;
  /** Of the system, in one line. */
  about: string | null;
  from: 'engine' | 'project' | 'mcp';
  /** Part of the format, and not built yet. */
  isPlanned: boolean;
  description: string | null;
  permission: Permission;
  /** The class of the operations that have another one. */
  operations: { readonly [operation: string]: Permission };
  speed: 'quick' | 'long';
  timeoutMs: number;
  /** The field that stands for the result where it is used as text. */
  textField: string | null;
  /** The codes with which it fails beside those of the engine; `isRetryable` is false where no repeat helps. */
  failures: { readonly [code: string]: { title: string; isRetryable: boolean } };
  /** JSON Schemas; null where nothing is known. */
  params: JsonObject | null;
  result: JsonObject | null;
}

type Described = Pick<ListedCommand, 'name' | 'system' | 'about' | 'from' | 'description' | 'params' | 'result'>;

const listed = (
  { permission, operations = {}, speed, timeoutMs = commandTimeoutMs, textField, planned, failures = {} }: CommandEntry,
  described: Described,
): ListedCommand => ({
  ...described,
  isPlanned: planned === true,
  permission,
  operations,
  speed,
  timeoutMs,
  textField: textField ?? null,
  failures: Object.fromEntries(
    Object.entries(failures).map(([code, stated]) => [
      code,
      { title: titleOf(stated), isRetryable: isRetryable(stated) },
    ]),
  ),
});

export function builtInList(): ListedCommand[] {
  const [catalogue, params, results] = [builtInCatalogue(), builtInParameters(), builtInResults()];
  const built = builtInOutline().flatMap(({ name: system, summary, commands }) =>
    commands.map(({ name, description }) =>
      listed(entryIn(catalogue, name), {
        name,
        system,
        about: summary,
        from: 'engine',
        description,
        params: params[name] ?? null,
        result: results[name] ?? null,
      }),
    ),
  );
  const planned = Object.entries(catalogue).filter(([, entry]) => entry.planned === true);
  const nothing = { system: null, about: null, description: null, params: null, result: null };
  return [...built, ...planned.map(([name, entry]) => listed(entry, { ...nothing, name, from: 'engine' }))];
}

function entryIn(catalogue: Catalogue, name: string): CommandEntry {
  const entry = findCommand(catalogue, name);
  if (entry === undefined) throw new Error(`bug: the command "${name}" is not in the catalogue`);
  return entry;
}

/** Those of the project itself, of its systems, and the tools of its MCP servers that were accepted. */
export function projectList(config: ProjectConfig, accepted: AcceptedServers): ListedCommand[] {
  const builtIn = builtInCatalogue();
  const systemOf = new Map<OwnCommand, ProjectConfig['systems'][number]>(
    config.systems.flatMap((system) => system.commands.map((command) => [command, system] as const)),
  );
  const own = ownCommandsOf(builtIn, config).map((command) => ownListed(command, systemOf.get(command)));
  const tools = mcpTools(builtIn, { config, accepted }).tools.map(({ command, server, tool, entry }) =>
    listed(entry, {
      name: command,
      system: `mcp/${server}`,
      about: `tools of the MCP server "${server}"`,
      from: 'mcp',
      description: tool.description ?? null,
      params: tool.inputSchema,
      result: tool.outputSchema ?? null,
    }),
  );
  return [...own, ...tools];
}

/** Those of one system of the project, whether it can be used or not. */
export const systemList = (system: ProjectConfig['systems'][number]): ListedCommand[] =>
  system.commands.map((command) => ownListed(command, system));

function ownListed(command: OwnCommand, system: ProjectConfig['systems'][number] | undefined): ListedCommand {
  const { name, description = null, params, result } = command;
  return listed(ownEntry(command), {
    name,
    system: system?.name ?? null,
    about: system?.summary ?? null,
    from: 'project',
    description,
    params: withoutMark(parametersOf(params)),
    result: withoutMark(resultOf(result)),
  });
}

const withoutMark = ({ $schema: _schema, ...schema }: Record<string, unknown>): JsonObject => schema as JsonObject;
