/** The quick commands of the project's systems as tools: an agent performs them, and signs as the program that it is. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { builtInCatalogue } from '../../systems/catalogue.ts';
import type { JsonObject } from '../../language/json.ts';
import { configIn } from '../../runs/commands/open-project.ts';
import { judgedSystems } from '../../runs/commands/project-systems.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import { readProjectCode } from '../../services/trust/project-code.ts';
import { isTrusted } from '../../services/trust/trusted-code.ts';
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

/** Of the systems that can be used, where the configuration is trusted. */
async function commandsIn(project: string): Promise<OwnCommand[]> {
  const file = configFileOf(project);
  if (file === null || !isTrusted(readProjectCode(file.path))) return [];
  const { systems } = await configIn(file);
  return judgedSystems(builtInCatalogue(), systems)
    .filter(({ problem }) => problem === null)
    .flatMap(({ system }) => system.commands)
    .filter(({ speed, doors }) => speed === 'quick' && doors?.includes('agent') !== false);
}
