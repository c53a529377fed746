/** What the systems of the one list bring together: their commands and the registry of these. */
import type { Command } from '../operations/command.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { createRegistry, type Registry, type RegistryParts } from '../operations/registry.ts';
import { commandsOf, type CommandQueue, type Standing, type System } from '../operations/system.ts';
import * as all from './all.ts';
import { PLANNED } from './planned.ts';

/** By name: not every loader gives a module's exports in one order. */
export const builtInSystems: readonly System[] = Object.values<System>(all).toSorted((one, other) =>
  one.name < other.name ? -1 : 1,
);

export const builtInCommands: readonly Command[] = builtInSystems.flatMap((system) => commandsOf(system));

export interface BuiltInParts extends Omit<RegistryParts, 'planned'> {
  /** Of systems by name, where the configuration of the project says something. */
  settings?: SystemSettings | undefined;
}

/** Of the commands that come with the engine, and of more. */
export function builtInRegistry(
  { settings = {}, ...parts }: BuiltInParts = {},
  more: readonly Command[] = [],
): Registry {
  const commands = builtInSystems.flatMap((system) => commandsOf(system, settings[system.name]));
  return createRegistry([...commands, ...more], { ...parts, planned: PLANNED });
}

/** Their queues, by name. */
export const builtInQueues: { readonly [queue: string]: CommandQueue } = Object.assign(
  {},
  ...builtInSystems.map(({ queues }) => queues),
) as { [queue: string]: CommandQueue };

type SystemSettings = { readonly [system: string]: object };

const prepared = (settings: SystemSettings) =>
  builtInSystems.flatMap(({ name, prepares }) =>
    prepares === undefined ? [] : [{ prepares, set: prepares.settings.parse(settings[name] ?? {}) as object }],
  );

/** Makes what the configuration of a project asks of them; what was done, as sentences. */
export async function makePrepared(store: Store, settings: SystemSettings): Promise<string[]> {
  const said = await Promise.all(prepared(settings).map(({ prepares, set }) => prepares.make(store, set)));
  return said.flat();
}

/** How that stands. */
export async function preparedStandings(store: Store, settings: SystemSettings): Promise<Standing[]> {
  const found = await Promise.all(prepared(settings).map(({ prepares, set }) => prepares.standings(store, set)));
  return found.flat();
}

/** What they do again and again, each with the command that is performed. */
export const builtInBackground = builtInSystems.flatMap(({ name: system, background = {} }) =>
  Object.entries(background).map(([task, stated]) => ({ system, task, ...stated })),
);

/** Those that know layers of models. */
export const builtInLayers = builtInSystems.flatMap(({ name: system, layers }) =>
  layers === undefined ? [] : [{ system, ...layers }],
);

/** What they follow, each with the command that is performed. */
export const builtInFollowers = builtInSystems.flatMap(({ name: system, followers = {} }) =>
  Object.entries(followers).map(([follower, { event, command }]) => ({ system, follower, event, command })),
);
