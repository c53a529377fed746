/**
 * The commands of a project's `sentinel.config` as commands of this worker. Their code is a user's, and runs in
 * processes of its own (own-processes.ts):
 *
 * - O1 What it throws fails the step, whatever it is; nothing of it reaches the worker as a bug.
 * - O2 What it returns is held against its schema and made plain JSON, as large as a value may be.
 * - O3 It ends with its step: when the time is over or the step is cancelled it is told, and ended a moment later.
 * - O4 Whatever it does to its process fails its step alone.
 */
import { type Command, defineCommand } from '../../operations/command.ts';
import { beating } from '../../world/processes/beating.ts';
import type { JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { ownEntry } from '../commands/project-commands.ts';
import { parametersOf, type OwnCommand } from '../../services/commands/own-commands.ts';
import type { OwnProcesses } from './own-processes.ts';

export const ownCommands = (commands: readonly OwnCommand[], processes: OwnProcesses): Command[] =>
  commands.map((own) =>
    defineCommand({
      name: own.name,
      ...(own.description === undefined ? {} : { description: own.description }),
      ...ownEntry(own),
      params: Value,
      parameters: parametersOf(own.params) as JsonObject,
      result: Value,
      run: (params, context) => beating(context, () => processes.perform(own, params, context)),
    }),
  );
