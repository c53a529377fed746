/** The models that a worker of this folder would have, for the length of one verb. */
import { builtProgram } from '../../world/models/local/model-host.ts';
import { Models } from '../../world/models/open-models.ts';
import { readConfig } from '../../services/config/config.ts';
import { modelRegistry } from '../../services/home/home-files.ts';
import { changedSettings } from '../../services/supervisor/kept-settings.ts';
import type { Output } from '../output/output.ts';
import { projectConfig } from './project-config.ts';
import { NO_PROJECT_CONFIG } from '../../services/config/project-config.ts';

export async function withModels<Result>(output: Output, use: (models: Models) => Promise<Result>): Promise<Result> {
  const project = process.cwd();
  const { config, commands, env: whole } = await projectConfig(project, output);
  if (config === null) for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  const { home, packageRoot, models: env } = readConfig();
  const changed = changedSettings(home, whole);
  if (changed !== undefined)
    output.note(`sentinel: the worker has other settings than this shell (${changed}); "sentinel up" gives it these`);
  const models = new Models({
    settings: (config ?? NO_PROJECT_CONFIG).models,
    env,
    registry: modelRegistry(home),
    program: builtProgram(packageRoot),
    project,
  });
  try {
    return await use(models);
  } finally {
    await models.close();
  }
}
