/** The models of this worker: by its environment, and by the configuration of its project. Opening starts nothing. */
import { builtProgram } from '../world/models/local/model-host.ts';
import { Models } from '../world/models/open-models.ts';
import type { Config } from '../services/config/config.ts';
import { modelRegistry } from '../services/home/home-files.ts';
import type { ProjectConfig } from '../services/config/project-config.ts';

export function openModels(config: Config, settings: ProjectConfig['models']): Models {
  const { home, packageRoot, models: env, project } = config;
  return new Models({
    settings,
    env,
    registry: modelRegistry(home),
    program: builtProgram(packageRoot),
    project: project?.folder ?? process.cwd(),
  });
}
