/** What the worker of an installation trains with: the trainer in its cache, and models by the names that steps give them. */
import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { BaseAt, Training } from '../../operations/training.ts';
import { defined } from '../../language/defined.ts';
import type { Config } from '../../services/config/config.ts';
import { makeFolders } from '../../services/home/home-files.ts';
import { trainerEnvironment, trainerVariables } from '../../services/trainer/environment.ts';
import type { Models } from '../../world/models/open-models.ts';
import { TurnError } from '../../world/models/port/turn-failure.ts';

const OWNER_ONLY = 0o700;

export function trainingWith({ home, cacheDir }: Pick<Config, 'home' | 'cacheDir'>, models: Models): Training {
  return {
    folder() {
      const folder = join(home, 'genome');
      makeFolders(folder, OWNER_ONLY);
      return folder;
    },
    trainer() {
      const environment = trainerEnvironment(cacheDir);
      if (environment.installed === null) return null;
      return {
        python: environment.python,
        env: defined(trainerVariables(environment, {})) as { [name: string]: string },
      };
    },
    base: (asked, at) => baseOf(asked, models, at),
  };
}

async function baseOf(
  asked: string,
  models: Models,
  { project, byModel, signal }: BaseAt,
): Promise<{ path: string; name: string } | { fault: string }> {
  const folder = resolve(project, asked);
  const isFolder = (asked.startsWith('./') || isAbsolute(asked)) && isThere(folder)?.isDirectory() === true;
  if (isFolder)
    return byModel
      ? { fault: `"${asked}" names a folder, and a model chose it; give the model a name with "sentinel models add"` }
      : { path: folder, name: asked };
  try {
    const { provider, model, adapters, name } = await models.resolve(
      asked,
      { messages: [] },
      { project, byModel, signal },
    );
    if (adapters.length > 0)
      return { fault: `"${asked}" has adapters; name the model alone, and the adapter to go on from as "parent"` };
    const path = provider.kind === 'local' ? models.local.find(model, project) : null;
    if (path === null)
      return {
        fault: `"${asked}" is ${name}, and only models in files of this machine are trained: "sentinel models add" names one, and "models.aliases" of sentinel.config lets another name stand for it`,
      };
    return isThere(path)?.isFile() === true ? { path, name } : { fault: `the file ${path} of "${asked}" is not there` };
  } catch (error) {
    if (error instanceof TurnError) return { fault: error.message };
    throw error;
  }
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false });
