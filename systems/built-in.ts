/** What the systems of the one list bring together: their commands and the registry of these. */
import type { Command } from '../operations/command.ts';
import { createRegistry, type Registry, type RegistryParts } from '../operations/registry.ts';
import { commandsOf, type CommandQueue, type System } from '../operations/system.ts';
import * as all from './all.ts';
import { PLANNED } from './planned.ts';

/** By name. */
export const builtInSystems: readonly System[] = Object.values(all);

export const builtInCommands: readonly Command[] = builtInSystems.flatMap((system) => commandsOf(system));

export interface BuiltInParts extends Omit<RegistryParts, 'planned'> {
  /** Of systems by name, where the configuration of the project says something. */
  settings?: { readonly [system: string]: object } | undefined;
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

/** What they do again and again, each with the command that is performed. */
export const builtInBackground = builtInSystems.flatMap(({ name: system, background = {} }) =>
  Object.entries(background).map(([task, { everyMs, command }]) => ({ system, task, everyMs, command })),
);

/** What they follow, each with the command that is performed. */
export const builtInFollowers = builtInSystems.flatMap(({ name: system, followers = {} }) =>
  Object.entries(followers).map(([follower, { event, command }]) => ({ system, follower, event, command })),
);
