/** Where definitions lie that a person names: beside a file, in the folders of the project, and among the shipped ones. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtInCatalogue } from '../systems/catalogue.ts';
import { isDefinitionFile } from '../language/read/text/definition-text.ts';
import { ownRoot } from '../services/home/package-root.ts';
import {
  DefinitionFiles,
  definitionsOf,
  projectAround,
  type Commands,
  type DefinitionFolder,
} from '../world/definitions/definition-files.ts';

/**
 * Whether what a person gave is written as a path. A name may hold slashes too; and what is there does not count, since a
 * run could put a file where a person names a definition.
 */
export const isPathGiven = (given: string): boolean => isDefinitionFile(given) || /^(?:\.{0,2}|~)\//.test(given);

const builtIn = (): Commands => ({ catalogue: builtInCatalogue() });

/** The folder a file lies in, those of its project, and the definitions that come with this package. */
export function filesAround(file: string, commands: Commands = builtIn(), packageRoot = ownRoot): DefinitionFiles {
  const project = projectAround(file, commands.root);
  return new DefinitionFiles(commands, [
    { path: dirname(file), deep: false },
    ...(project === null ? [] : definitionsOf(project)),
    ...shippedIn(packageRoot),
  ]);
}

/** A project's own definitions, and those that come with this package. */
export function filesOfProject(project: string, commands: Commands = builtIn()): DefinitionFiles {
  return new DefinitionFiles(commands, [...definitionsOf(project), ...shippedIn(ownRoot)]);
}

/** What comes with the package: that of nobody, and that of each system. */
function shippedIn(root: string): DefinitionFolder[] {
  const systems = join(root, 'systems');
  const named = existsSync(systems) ? readdirSync(systems).toSorted() : [];
  return [
    ...definitionsOf(root),
    ...named.map((system) => ({ path: join(systems, system, 'definitions'), deep: false })),
  ];
}
