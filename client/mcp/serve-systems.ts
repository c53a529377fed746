/**
 * The quick commands of systems as tools: an agent performs them, and signs as the program that it is. Of a project's,
 * all whose doors do not say otherwise; of ours, those whose doors name agents: the rest is there by tools of its own.
 */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { JsonObject } from '../../language/json.ts';
import type { Command } from '../../operations/command.ts';
import { builtInOutline } from '../../systems/catalogue.ts';
import { usableSystems } from '../lookup/project-systems.ts';
import { performCommand } from '../perform.ts';
import { isWithinStep } from '../rights/within-step.ts';
import { callerOf } from './serve-runs.ts';
import { type Served, said } from './served.ts';

interface Offered extends Pick<Command, 'name' | 'permission' | 'speed' | 'params'> {
  description?: string | undefined;
  doors?: Command['doors'] | undefined;
}

export async function addSystems(server: McpServer, { client, project }: Served): Promise<void> {
  const isInStep = await isWithinStep();
  for (const own of await commandsIn(project)) {
    // What a process of a step writes is no agent's.
    if (isInStep && own.permission !== 'read') continue;
    server.registerTool(
      own.name.replaceAll('/', '_'),
      {
        description: own.description ?? `Performs ${own.name}.`,
        inputSchema: own.params,
        annotations: { readOnlyHint: own.permission === 'read' },
      },
      async (params: unknown) => {
        const result = await performCommand(client, own.name, params as JsonObject, {
          by: callerOf(server),
          as: 'agent',
          project,
        });
        return said({ result });
      },
    );
  }
}

async function commandsIn(project: string): Promise<Offered[]> {
  const own = (await usableSystems(project)).flatMap(({ commands }) => commands);
  return [...(await ofEngine()), ...own.filter(({ doors }) => doors?.includes('agent') !== false)].filter(
    ({ speed }) => speed === 'quick',
  );
}

/** The code of the systems is loaded only where one of them has something to offer. */
async function ofEngine(): Promise<readonly Offered[]> {
  const names = builtInOutline().flatMap(({ commands }) =>
    commands.filter(({ isForAgents }) => isForAgents).map(({ name }) => name),
  );
  if (names.length === 0) return [];
  const { builtInCommands } = await import('../../systems/built-in.ts');
  return builtInCommands.filter(({ name }) => names.includes(name));
}
