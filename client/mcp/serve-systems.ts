/** The quick commands of the project's systems as tools: an agent performs them, and signs as the program that it is. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { JsonObject } from '../../language/json.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import { usableSystems } from '../lookup/project-systems.ts';
import { performCommand } from '../perform.ts';
import { isWithinStep } from '../rights/within-step.ts';
import { callerOf } from './serve-runs.ts';
import type { Served } from './served.ts';
import { said } from './tool-result.ts';

type OwnCommand = ProjectSystem['commands'][number];

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

const commandsIn = async (project: string): Promise<OwnCommand[]> =>
  (await usableSystems(project))
    .flatMap(({ commands }) => commands)
    .filter(({ speed, doors }) => speed === 'quick' && doors?.includes('agent') !== false);
