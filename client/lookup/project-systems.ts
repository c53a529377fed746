/** The systems of a project, as `doctor` says how they are. */
import { builtInCatalogue } from '../../systems/catalogue.ts';
import { configIn } from '../../runs/commands/open-project.ts';
import { judgedSystems } from '../../runs/commands/project-systems.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import type { DoctorEntry } from '../../services/doctor-entry.ts';
import { readProjectCode } from '../../services/trust/project-code.ts';
import { isTrusted } from '../../services/trust/trusted-code.ts';

/** None where the configuration is not trusted: it is code, and looking runs none. `made`: whose tables there are; null: nobody can say. */
export async function systemEntries(project: string, made: readonly string[] | null): Promise<DoctorEntry[]> {
  const file = configFileOf(project);
  if (file === null || !isTrusted(readProjectCode(file.path))) return [];
  try {
    const { systems } = await configIn(file);
    return judgedSystems(builtInCatalogue(), systems).map(
      ({ system: { name, summary, commands, tables }, problem }) => {
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
      },
    );
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
