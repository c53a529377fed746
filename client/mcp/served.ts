/** What an MCP server of Sentinel's stands on, and how its tools answer: JSON for programs, the same as text for readers. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { builtIn } from '../lookup/project-catalogue.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import { readConfig } from '../../services/config/config.ts';
import type { Policy } from '../../language/policy/policy.ts';
import type { OpenClient } from '../open-client.ts';
import { filesOfProject } from '../read-definition.ts';
import type { DefinitionFiles } from '../../world/definitions/definition-files.ts';
import { visible } from '../../language/events/visible.ts';

export interface Served {
  client: OpenClient;
  /** Where its runs work. */
  project: string;
  /** Who the run of a definition belongs to, which may name an owner. */
  personaFor(owner?: string): string;
  allowApprove: boolean;
  /** Whose workers run them, where the server says so. */
  host?: string;
  /** What holds for the runs that it starts, whatever an agent adds. */
  policy?: Policy;
}

/** The server's rules and the agent's: each list is asked. */
export const policyOf = (
  { policy }: Pick<Served, 'policy'>,
  given: Policy | undefined,
): { policy?: readonly Policy[] } => {
  const policies = [policy, given].filter((one) => one !== undefined);
  return policies.length === 0 ? {} : { policy: policies };
};

/** The commands that saved sentinels may name: those of the project's configuration as it is now. */
export const servedCommands = ({ project }: Served): Promise<ProjectCommands> =>
  openProjectCommands(builtIn(), project, readConfig().home);

/** Those in the store, as the server's persona finds them. */
export const savedFor = (served: Served): ReturnType<OpenClient['savedFor']> =>
  served.client.savedFor({ persona: served.personaFor(), project: served.project });

/** The saved sentinels that are in files. */
export const servedFiles = async (served: Served): Promise<DefinitionFiles> =>
  filesOfProject(served.project, await servedCommands(served));

/** Longer texts keep their end. */
const textMax = 200_000;

export const said = (value: object, text = JSON.stringify(value, null, 2)): CallToolResult => ({
  content: [{ type: 'text', text: shown(text) }],
  structuredContent: JSON.parse(JSON.stringify(value)) as Record<string, unknown>,
});

export const shown = (text: string): string => {
  const safe = text
    .split('\n')
    .map((line) => visible(line))
    .join('\n');
  return safe.length <= textMax ? safe : `…${safe.slice(-textMax)}`;
};
