/** What an MCP server of Sentinel's stands on. */
import { builtIn } from '../lookup/project-catalogue.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import { readConfig } from '../../services/config/config.ts';
import type { OpenClient } from '../open-client.ts';
import { filesOfProject, type DefinitionFiles } from '../read-definition.ts';

export interface Served {
  client: OpenClient;
  /** Where its runs work. */
  project: string;
  /** Who the run of a definition belongs to, which may name an owner. */
  personaFor(owner?: string): string;
  allowApprove: boolean;
}

/** The commands that saved sentinels may name: those of the project's configuration as it is now. */
export const servedCommands = ({ project }: Served): Promise<ProjectCommands> =>
  openProjectCommands(builtIn(), project, readConfig().home);

/** The saved sentinels that are in files. */
export const servedFiles = async (served: Served): Promise<DefinitionFiles> =>
  filesOfProject(served.project, await servedCommands(served));
