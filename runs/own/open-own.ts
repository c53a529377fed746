/** What a project brings itself, to be performed from here: its commands, and its systems with their tables. */
import { failuresIn } from '../../language/catalogue.ts';
import type { Command } from '../../operations/command.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { TablesRefused } from '../../prisma/store/contract/system-contract.ts';
import type { ProjectSystem } from '../../services/commands/own-systems.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import type { ProjectCode } from '../../services/trust/project-code.ts';
import type { BuiltIn } from '../commands/built-in.ts';
import { ownCommandsOf } from '../commands/project-commands.ts';
import { judgedSystems, type JudgedSystem } from '../commands/project-systems.ts';
import { ownCommands, systemCommands } from './own-commands.ts';
import { OwnProcesses } from './own-processes.ts';

type Say = (text: string) => void;

export interface OwnParts {
  commands: Command[];
  systems: JudgedSystem[];
  processes: OwnProcesses;
}

export interface Opening {
  code: ProjectCode;
  config: ProjectConfig;
  builtIn: BuiltIn;
  store: Pick<Store, 'systems'>;
  say: Say;
}

export async function openOwn({ code, config, builtIn, store, say }: Opening): Promise<OwnParts> {
  const processes = new OwnProcesses(code, say, Object.keys(failuresIn(builtIn.catalogue)));
  const systems = await withTables(store, judgedSystems(builtIn, config), say);
  // What clashes with another command is left out; its system says so.
  const named = new Set(ownCommandsOf(builtIn.catalogue, config));
  const commands = [
    ...ownCommands(config.commands, processes),
    ...systems.flatMap((system) => systemCommands(system, named, processes)),
  ];
  return { commands, systems, processes };
}

/** The tables of each; one whose tables cannot be made cannot be used, which is said. */
async function withTables(
  store: Pick<Store, 'systems'>,
  systems: readonly JudgedSystem[],
  say: Say,
): Promise<JudgedSystem[]> {
  const made: JudgedSystem[] = [];
  for (const judged of systems) {
    const refused = judged.problem === null ? await tablesRefused(store, judged.system) : null;
    if (refused !== null) say(refused);
    made.push({ ...judged, problem: judged.problem ?? refused });
  }
  return made;
}

async function tablesRefused(store: Pick<Store, 'systems'>, { name, tables }: ProjectSystem): Promise<string | null> {
  try {
    await store.systems.apply(name, tables);
    return null;
  } catch (error) {
    if (!(error instanceof TablesRefused)) throw error;
    return `the system "${name}" cannot be used: ${error.message}`;
  }
}
