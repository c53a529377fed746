/** The configuration of a project, as the command line uses it: said when it is new, checked before anything starts. */
import { readConfig, type Environment } from '../../../services/config/config.ts';
import type { ProjectConfig } from '../../../services/config/project-config.ts';
import { configFileOf, withProject } from '../../../services/config/project-file.ts';
import { builtInCatalogue } from '../../../activities/commands/catalogue.ts';
import type { ProjectCommands } from '../../../runs/commands/project-commands.ts';
import { withBuiltIn } from '../../lookup/project-catalogue.ts';
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
