/** The configuration of a project, as the command line uses it: said when it is new, checked before anything starts. */
import { readConfig, type Environment } from '../../../services/config/config.ts';
import type { ProjectConfig } from '../../../services/config/project-config.ts';
import { configFileOf, withProject } from '../../../services/config/project-file.ts';
import type { Output } from '../output/output.ts';

export interface ProjectUse {
  /** Null: the project has none. */
  config: ProjectConfig | null;
  /** For services that are started for this project. */
  env: Environment;
}

export async function projectConfig(project: string, output: Output): Promise<ProjectUse> {
  const env = withProject(process.env, project);
  const file = configFileOf(project);
  if (file === null) return { config: null, env };
  const [{ loadProjectConfig }, { newsOf }] = await Promise.all([
    import('../../../services/config/project-config.ts'),
    import('../../../services/config/said-configs.ts'),
  ]);
  const news = newsOf(readConfig().home, file);
  if (news !== null) output.note(`sentinel: ${news}`);
  return { config: await loadProjectConfig(file), env };
}
