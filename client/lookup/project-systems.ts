/** The systems of a project, as `doctor` says how they are. */
import { builtInCatalogue, builtInSettings } from '../../systems/catalogue.ts';
import { configIn } from '../../runs/commands/open-project.ts';
import { judgedSystems, type JudgedSystem } from '../../runs/commands/project-systems.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { configFileOf, type ConfigFile } from '../../services/config/project-file.ts';
import type { DoctorEntry } from '../../services/doctor-entry.ts';
import { readProjectCode } from '../../services/trust/project-code.ts';
import { isTrusted } from '../../services/trust/trusted-code.ts';

/** Null where there is none that is trusted: it is code, and looking runs none. */
function trustedFile(project: string): ConfigFile | null {
  const file = configFileOf(project);
  return file !== null && isTrusted(readProjectCode(file.path)) ? file : null;
}

const judgedIn = async (file: ConfigFile): Promise<JudgedSystem[]> =>
  judgedSystems({ catalogue: builtInCatalogue(), settings: builtInSettings() }, await configIn(file));

/** Those that can be used, where the configuration is trusted. */
export async function usableSystems(project: string): Promise<ProjectSystem[]> {
  const file = trustedFile(project);
  return file === null
    ? []
    : (await judgedIn(file)).filter(({ problem }) => problem === null).map(({ system }) => system);
}

/** None where the configuration is not trusted. `made`: whose tables there are; null: nobody can say. */
export async function systemEntries(project: string, made: readonly string[] | null): Promise<DoctorEntry[]> {
  const file = trustedFile(project);
  if (file === null) return [];
  try {
    return (await judgedIn(file)).map(({ system: { name, summary, commands, tables }, problem }) => {
      const entry = { name: `system ${name}`, where: file.path, version: null };
      if (problem !== null) return { ...entry, ok: false, found: 'cannot be used', remedy: `${problem}.` };
      if (made !== null && Object.keys(tables).length > 0 && !made.includes(name))
        return {
          ...entry,
          ok: false,
          found: 'its tables have not been made',
          remedy: 'Run "sentinel up" in the project; the log of the worker says what is wrong with them.',
        };
      return { ...entry, ok: true, found: `${commands.length} commands: ${summary}` };
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      {
        name: 'sentinel.config',
        ok: false,
        found: error.message,
        where: file.path,
        version: null,
        remedy: 'Correct it.',
      },
    ];
  }
}
