/**
 * The catalogue of the built-in commands, what they and their systems are for, and the JSON Schemas of what they take and
 * give. The build writes their values into the command line in place of this module (scripts/build.mjs): a quick verb
 * does not load what commands run with.
 */
import * as z from 'zod';
import type { Catalogue } from '../language/catalogue.ts';
import { defined } from '../language/defined.ts';
import type { JsonObject } from '../language/json.ts';
import type { Command } from '../operations/command.ts';
import { checkedParametersOf, resultOf } from '../operations/parameters.ts';
import type { Run, Verb } from '../operations/system.ts';
import { builtInCommands, builtInRegistry, builtInSystems } from './built-in.ts';

export function builtInCatalogue(): Catalogue {
  return builtInRegistry().catalogue;
}

export function builtInParameters(): { readonly [command: string]: JsonObject } {
  return Object.fromEntries(builtInCommands.map((command) => [command.name, checkedParametersOf(command)]));
}

export function builtInResults(): { readonly [command: string]: JsonObject } {
  return Object.fromEntries(builtInCommands.map((command) => [command.name, resultOf(command)]));
}

/** What the settings of each system may say; null where it has none. */
export function builtInSettings(): { readonly [system: string]: JsonObject | null } {
  return Object.fromEntries(
    builtInSystems.map(({ name, settings, prepares }) => {
      const schema = settings ?? prepares?.settings;
      return [name, schema === undefined ? null : settingsSchema(schema)];
    }),
  );
}

function settingsSchema(settings: z.ZodType): JsonObject {
  const { $schema: _schema, ...schema } = z.toJSONSchema(settings, { io: 'input' });
  return schema as JsonObject;
}

export interface CommandOutline extends Pick<Command, 'definitionFile' | 'ofWorker'> {
  name: string;
  description: string | null;
  /** Its doors name agents. */
  isForAgents: boolean;
}

export interface SystemOutline {
  name: string;
  summary: string;
  commands: CommandOutline[];
  verbs: { readonly [verb: string]: Verb };
  run?: Run;
}

/** By name. */
export function builtInOutline(): readonly SystemOutline[] {
  return builtInSystems.map(({ name, summary, commands, verbs = {}, run }) => ({
    name,
    summary,
    commands: commands.map(({ name: command, description = null, doors, definitionFile, ofWorker }) => ({
      name: command,
      description,
      isForAgents: doors?.includes('agent') === true,
      ...defined({ definitionFile, ofWorker }),
    })),
    verbs,
    ...defined({ run }),
  }));
}
