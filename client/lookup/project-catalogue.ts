/** The commands that runs of a project have; without a project the built-in ones alone. */
import { builtInCatalogue } from '../../activities/commands/catalogue.ts';
import type { Catalogue } from '../../language/catalogue.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';

export async function projectCatalogue(project: string | undefined, home: string): Promise<Catalogue> {
  if (project === undefined) return builtInCatalogue();
  return (await openProjectCommands({ catalogue: builtInCatalogue() }, project, home)).catalogue;
}
