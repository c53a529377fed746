/** The commands that runs of a project have; without a project the built-in ones alone. */
import { builtInCatalogue, builtInParameters } from '../../activities/commands/catalogue.ts';
import type { Catalogue } from '../../language/catalogue.ts';
import type { ParamCheck } from '../../language/params/param-check.ts';
import type { SchemaFaults } from '../../language/params/schema-faults.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';

export async function projectCatalogue(project: string | undefined, home: string): Promise<Catalogue> {
  if (project === undefined) return builtInCatalogue();
  return (await openProjectCommands(builtInCatalogue(), project, home)).catalogue;
}

/** What the built-in commands take is checked as well. */
export async function withBuiltIn({ params: own, ...commands }: ProjectCommands): Promise<ProjectCommands> {
  const { schemaFaults } = await import('../../language/params/schema-faults.ts');
  const schemas = builtInParameters();
  const checks = new Map<string, SchemaFaults>();
  const params: ParamCheck = (command, given) => {
    const schema = Object.hasOwn(schemas, command) ? schemas[command] : undefined;
    if (schema === undefined) return own?.(command, given) ?? [];
    const check = checks.get(command) ?? schemaFaults(schema);
    checks.set(command, check);
    return check(given);
  };
  return { ...commands, params };
}
