/** Every system that comes with the engine: the one list of them. */
import type { Command } from '../operations/command.ts';
import { createRegistry, type Registry, type RegistryParts } from '../operations/registry.ts';
import { commandsOf, type System } from '../operations/system.ts';
import { chat } from './chat/system.ts';
import { code } from './code/system.ts';
import { data } from './data/system.ts';
import { git } from './git/system.ts';
import { health } from './health/system.ts';
import { models } from './models/system.ts';
import { pages } from './pages/system.ts';
import { PLANNED } from './planned.ts';
import { runs } from './runs/system.ts';
import { shell } from './shell/system.ts';

export const builtInSystems: readonly System[] = [code, git, shell, data, runs, chat, pages, models, health];

export const builtInCommands: readonly Command[] = builtInSystems.flatMap(commandsOf);

/** Of the commands that come with the engine, and of more. */
export const builtInRegistry = (parts: Omit<RegistryParts, 'planned'> = {}, more: readonly Command[] = []): Registry =>
  createRegistry([...builtInCommands, ...more], { ...parts, planned: PLANNED });
