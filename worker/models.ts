/** The models of this worker: by its environment, and by the configuration of its project. */
import { join } from 'node:path';
import { Models } from '../activities/models/open-models.ts';
import type { Config } from '../services/config/config.ts';
import { modelRegistry } from '../services/config/home-files.ts';
import { loadProjectConfig, NO_PROJECT_CONFIG } from '../services/config/project-config.ts';
import { configFileOf } from '../services/config/project-file.ts';
import { say } from './say.ts';

export async function openModels(config: Config): Promise<Models> {
  const { home, packageRoot, models: env, project } = config;
  const file = project === null ? null : configFileOf(project.folder);
  const { models: settings } = file === null ? NO_PROJECT_CONFIG : await loadProjectConfig(file);
  if (file !== null) say(`loaded ${file.path}`);
  return new Models({
    settings,
    env,
    registry: modelRegistry(home),
    program: { path: join(packageRoot, 'dist', 'activities', 'models', 'local', 'model-process.js') },
    project: project?.folder ?? process.cwd(),
  });
}
