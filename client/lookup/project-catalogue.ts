/** The commands that runs of a project have; without a project the built-in ones alone. */
import { builtInCatalogue, builtInSettings } from '../../systems/catalogue.ts';
import type { BuiltIn } from '../../runs/commands/built-in.ts';
import type { Catalogue } from '../../language/catalogue.ts';
import type { Policy } from '../../language/policy/policy.ts';
import { configIn, openProjectCommands } from '../../runs/commands/open-project.ts';
import { policiesIn } from '../../runs/policies.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import { builtInParamCheck, builtInResultSchemas } from './built-in-params.ts';

export async function projectCatalogue(project: string | undefined, home: string): Promise<Catalogue> {
  if (project === undefined) return builtInCatalogue();
  return (await openProjectCommands(builtIn(), project, home)).catalogue;
}

export const builtIn = (): BuiltIn => ({ catalogue: builtInCatalogue(), settings: builtInSettings() });

/** What its configuration says of all its runs. Throws `ConfigError`. */
export async function projectPolicies(project: string | undefined): Promise<Policy[]> {
  const file = project === undefined ? null : configFileOf(project);
  return file === null ? [] : policiesIn(await configIn(file), file.path);
}

/** What the built-in commands take and give is known as well. */
export async function withBuiltIn({ params, results, ...commands }: ProjectCommands): Promise<ProjectCommands> {
  const { schemaFaults } = await import('../../language/params/schema-faults.ts');
  return { ...commands, params: builtInParamCheck(schemaFaults, params), results: builtInResultSchemas(results) };
}
