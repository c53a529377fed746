/** The commands that runs of a project have, from its `sentinel.config` and what was accepted. */
import { acceptedIn } from '../../services/config/accepted-tools.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { configFileOf, type ConfigFile } from '../../services/config/project-file.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import type { BuiltIn } from './built-in.ts';
import type { ProjectCommands } from './project-commands.ts';

const loaded = new Map<string, { digest: string; config: Promise<ProjectConfig> }>();

/** Runs the file's code, once for each of its versions in a process. */
export function configIn(file: ConfigFile): Promise<ProjectConfig> {
  const before = loaded.get(file.path);
  if (before?.digest === file.digest) return before.config;
  const config = import('../../services/config/project-config.ts').then(({ loadProjectConfig }) =>
    loadProjectConfig(file),
  );
  loaded.set(file.path, { digest: file.digest, config });
  return config;
}

/** What it says of systems that come with the engine. Throws `ConfigError` where they do not take it. */
export async function settingsIn(engine: BuiltIn, file: ConfigFile): Promise<ProjectConfig['settings']> {
  const [config, { settingsFaults }] = await Promise.all([configIn(file), import('./system-settings.ts')]);
  const faults = settingsFaults(engine, config);
  if (faults.length > 0) throw new ConfigError(`${file.path}: ${faults.join('; ')}.`);
  return config.settings;
}

export async function openProjectCommands(builtIn: BuiltIn, project: string, home: string): Promise<ProjectCommands> {
  const file = configFileOf(project);
  if (file === null) return { catalogue: builtIn.catalogue, notices: [], root: project };
  const [config, { projectCommands }] = await Promise.all([configIn(file), import('./project-commands.ts')]);
  return {
    ...projectCommands(builtIn, { path: file.path, config, accepted: acceptedIn(home, project) }),
    root: project,
  };
}
