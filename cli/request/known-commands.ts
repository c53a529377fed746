/** The commands that a person may name: those of the engine, and those of the project where its configuration is trusted. */
import { nearestOf } from '../../client/nearest.ts';
import type { ListedCommand } from '../../client/lookup/command-list.ts';
import type { Output } from '../output/output.ts';
import { projectConfig } from './project-config.ts';
import { usage } from './usage.ts';

/** `asks`: the configuration is asked for a person's trust. */
export async function knownCommands(project: string, output: Output, asks: boolean): Promise<ListedCommand[]> {
  const [{ builtInList, projectList }, { config, commands }, { acceptedIn }, { readConfig }] = await Promise.all([
    import('../../client/lookup/command-list.ts'),
    projectConfig(project, output, asks),
    import('../../services/config/accepted-tools.ts'),
    import('../../services/config/config.ts'),
  ]);
  for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  const own = config === null ? [] : projectList(config, acceptedIn(readConfig().home, project));
  return [...builtInList(), ...own];
}

export function commandNamed(name: string, known: readonly ListedCommand[]): ListedCommand {
  const found = known.find((command) => command.name === name);
  if (found !== undefined) return found;
  const near = nearestOf(
    name,
    known.map((command) => command.name),
    (one) => `write "${one}", or `,
  );
  throw usage(`There is no command "${name}"; ${near}see "sentinel commands".`);
}
