/** What an MCP server of Sentinel's stands on. */
import { builtInCatalogue } from '../../systems/catalogue.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
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
  openProjectCommands(builtInCatalogue(), project, readConfig().home);

/** The saved sentinels that are in files. */
export const servedFiles = async (served: Served): Promise<DefinitionFiles> =>
  filesOfProject(served.project, await servedCommands(served));

/**
 * The store as whoever has only names reads it: they find what a person has saved, and nothing that is kept by its id,
 * which an agent reads among the runs. Null where it is not up.
 */
export async function savedOnly({ client }: Pick<Served, 'client'>): Promise<Store | null> {
  const store = await client.storeIfUp();
  if (store === null) return null;
  const { definitions } = store;
  return { ...store, definitions: { ...definitions, find: (name) => definitions.findSaved(name) } };
}
