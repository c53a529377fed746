/** The configuration of a project, as the command line uses it: said when it is new, checked before anything starts. */
import { readConfig, type Environment } from '../../../services/config/config.ts';
import type { ProjectConfig } from '../../../services/config/project-config.ts';
import { configFileOf, withProject } from '../../../services/config/project-file.ts';
import { builtInCatalogue, builtInParameters } from '../../../activities/commands/catalogue.ts';
import type { ParamCheck } from '../../../language/params/param-check.ts';
import type { SchemaFaults } from '../../../language/params/schema-faults.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';
import type { Output } from '../output/output.ts';

export interface ProjectUse {
  /** Null: the project has none. */
  config: ProjectConfig | null;
  /** The commands that its definitions may name. */
  commands: ProjectCommands;
  /** For services that are started for this project. */
  env: Environment;
}

export async function projectConfig(project: string, output: Output): Promise<ProjectUse> {
  const env = withProject(process.env, project);
  const file = configFileOf(project);
  const builtIn = builtInCatalogue();
  if (file === null)
    return { config: null, commands: await withBuiltIn({ catalogue: builtIn, notices: [], root: project }), env };
  const [{ configIn, openProjectCommands }, { newsOf }] = await Promise.all([
    import('../../../runs/commands/open-project.ts'),
    import('../../../services/config/said-configs.ts'),
  ]);
  const { home } = readConfig();
  const news = newsOf(home, file);
  if (news !== null) output.note(`sentinel: ${news}`);
  const config = await configIn(file);
  return { config, commands: await withBuiltIn(await openProjectCommands(builtIn, project, home)), env };
}

/** The commands that definitions of a project may name; what is to be known of them is said. */
export async function commandsIn(project: string, output: Output): Promise<ProjectCommands> {
  const { commands } = await projectConfig(project, output);
  for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  return commands;
}

/** What the built-in commands take is checked as well. */
async function withBuiltIn({ params: own, ...commands }: ProjectCommands): Promise<ProjectCommands> {
  const { schemaFaults } = await import('../../../language/params/schema-faults.ts');
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
