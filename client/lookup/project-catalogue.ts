/** The commands that runs of a project have; without a project the built-in ones alone. */
import { builtInCatalogue } from '../../systems/catalogue.ts';
import type { Catalogue } from '../../language/catalogue.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import { builtInParamCheck, builtInResultSchemas } from './built-in-params.ts';

export async function projectCatalogue(project: string | undefined, home: string): Promise<Catalogue> {
  if (project === undefined) return builtInCatalogue();
  return (await openProjectCommands(builtInCatalogue(), project, home)).catalogue;
}

/** What the built-in commands take and give is known as well. */
export async function withBuiltIn({ params, results, ...commands }: ProjectCommands): Promise<ProjectCommands> {
  const { schemaFaults } = await import('../../language/params/schema-faults.ts');
  return { ...commands, params: builtInParamCheck(schemaFaults, params), results: builtInResultSchemas(results) };
}
