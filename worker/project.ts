/** What the project of this worker has configured; without a project nothing. */
import type { Config } from '../services/config/config.ts';
import { loadProjectConfig, NO_PROJECT_CONFIG, type ProjectConfig } from '../services/config/project-config.ts';
import { configFileOf } from '../services/config/project-file.ts';
import { say } from './say.ts';

export async function loadProject({ project }: Config): Promise<ProjectConfig> {
  const file = project === null ? null : configFileOf(project.folder);
  if (file === null) return NO_PROJECT_CONFIG;
  const settings = await loadProjectConfig(file);
  say(`loaded ${file.path}`);
  return settings;
}
