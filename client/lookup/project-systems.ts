/** The systems of a project, as `doctor` says how they are. */
import { builtInCatalogue, builtInSettings } from '../../systems/catalogue.ts';
import { commandQueue } from '../../language/command-queue.ts';
import { connectionOptions, readConfig, type Config } from '../../services/config/config.ts';
import { ownWorkerOf } from '../../services/own-worker.ts';
import { configIn } from '../../runs/commands/open-project.ts';
import { judgedSystems, type JudgedSystem } from '../../runs/commands/project-systems.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { configFileOf, type ConfigFile } from '../../services/config/project-file.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import type { Standing } from '../../operations/system.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { DoctorEntry } from '../../services/doctor-entry.ts';
import { readProjectCode } from '../../services/trust/project-code.ts';
import { isTrusted } from '../../services/trust/trusted-code.ts';

const LOOK_MS = 2_000;

/** Null where there is none that is trusted: it is code, and looking runs none. */
function trustedFile(project: string): ConfigFile | null {
  const file = configFileOf(project);
  return file !== null && isTrusted(readProjectCode(file.path)) ? file : null;
}

const judgedIn = (config: ProjectConfig): JudgedSystem[] =>
  judgedSystems({ catalogue: builtInCatalogue(), settings: builtInSettings() }, config);

/** Those that can be used, where the configuration is trusted. */
export async function usableSystems(project: string): Promise<ProjectSystem[]> {
  const file = trustedFile(project);
  return file === null
    ? []
    : judgedIn(await configIn(file))
        .filter(({ problem }) => problem === null)
        .map(({ system }) => system);
}

/** The queues of its systems, and who serves them; `null` workers: nobody can say. */
async function queueEntries(systems: readonly ProjectSystem[], project: string, path: string): Promise<DoctorEntry[]> {
  const config = readConfig();
  const ofRuns = ownWorkerOf(project, process.env)?.taskQueue ?? config.taskQueues[0];
  const named = systems.flatMap(({ name: system, queues }) =>
    Object.entries(queues).map(([queue, { elsewhere }]) => ({ system, queue, elsewhere })),
  );
  return Promise.all(
    named.map(async ({ system, queue, elsewhere }) => {
      const workers = await workersOf(config, commandQueue(ofRuns, queue));
      const found = workers === null ? 'workers unknown' : `${workers} workers serve it`;
      const entry = { name: `queue ${queue}`, found: `of the system ${system}: ${found}`, where: path, version: null };
      // The worker of the project serves the others once it is needed.
      if (!elsewhere || workers !== 0) return { ...entry, ok: true };
      const remedy = `Run "sentinel worker --queue ${queue}" in the project, on the machine that is to perform its commands.`;
      return { ...entry, ok: false, remedy };
    }),
  );
}

async function workersOf(config: Config, queue: string): Promise<number | null> {
  if (config.temporal.address === null) return null;
  const [{ withTemporal }, { pollersOf }] = await Promise.all([
    import('../../services/temporal/temporal-probe.ts'),
    import('../../services/temporal/queue-pollers.ts'),
  ]);
  return withTemporal(connectionOptions(config), LOOK_MS, (connection) =>
    pollersOf(connection, config.temporal.namespace, queue, true),
  ).catch(() => null);
}

async function standingsIn(store: Store, { settings }: ProjectConfig): Promise<Standing[]> {
  const { preparedStandings } = await import('../../systems/built-in.ts');
  return preparedStandings(store, settings);
}

/** None where the configuration is not trusted. `store`: null where it is not up, and nobody can say what has been made. */
export async function systemEntries(project: string, store: Store | null): Promise<DoctorEntry[]> {
  const file = trustedFile(project);
  if (file === null) return [];
  try {
    const config = await configIn(file);
    const judged = judgedIn(config);
    const usable = judged.filter(({ problem }) => problem === null).map(({ system }) => system);
    const made = (await store?.systems.list()) ?? null;
    const ofSystems = judged.map(({ system: { name, summary, commands, tables }, problem }) => {
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
    const where = { where: file.path, version: null };
    const prepared = store === null ? [] : await standingsIn(store, config);
    return [
      ...ofSystems,
      ...prepared.map((standing) => ({ ...standing, ...where })),
      ...(await queueEntries(usable, project, file.path)),
    ];
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
