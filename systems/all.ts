/** Every system that comes with the engine: the one list of them. */
import type { Command } from '../operations/command.ts';
import { createRegistry, type Registry, type RegistryParts } from '../operations/registry.ts';
import { codeCommands } from './code/files.ts';
import { diagnosticsCommands } from './code/diagnostics.ts';
import { editCommands } from './code/edit.ts';
import { searchCommands } from './code/search.ts';
import { aiCommands } from './models/commands.ts';
import { chatCommands } from './chat/commands.ts';
import { controlCommands } from './runs/control.ts';
import { dataCommands } from './data/commands.ts';
import { gitCommands } from './git/commands.ts';
import { healthCommands } from './health/commands.ts';
import { ragCommands } from './models/context.ts';
import { screenshotCommands } from './pages/commands.ts';
import { toolCommands } from './models/search-tools.ts';
import { savingCommands } from './runs/saving.ts';
import { sentinelCommands } from './runs/commands.ts';
import { stepCommands } from './runs/steps.ts';
import { shellCommands } from './shell/commands.ts';
import { undoCommands } from './code/undo.ts';
import { PLANNED } from './planned.ts';
import { verifyCommands } from './code/verify.ts';

export const builtInCommands: readonly Command[] = [
  ...codeCommands,
  ...editCommands,
  ...searchCommands,
  ...verifyCommands,
  ...diagnosticsCommands,
  ...gitCommands,
  ...undoCommands,
  ...shellCommands,
  ...dataCommands,
  ...sentinelCommands,
  ...controlCommands,
  ...stepCommands,
  ...savingCommands,
  ...chatCommands,
  ...screenshotCommands,
  ...toolCommands,
  ...aiCommands,
  ...ragCommands,
  ...healthCommands,
];

/** Of the commands that come with the engine, and of more. */
export const builtInRegistry = (parts: Omit<RegistryParts, 'planned'> = {}, more: readonly Command[] = []): Registry =>
  createRegistry([...builtInCommands, ...more], { ...parts, planned: PLANNED });
