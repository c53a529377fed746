/**
 * The commands of a project's `sentinel.config` as commands of this worker. Their code is a user's, and runs in
 * processes of its own (own-processes.ts):
 *
 * - O1 What it throws fails the step, whatever it is; nothing of it reaches the worker as a bug.
 * - O2 What it returns is held against its schema and made plain JSON, as large as a value may be.
 * - O3 It ends with its step: when the time is over or the step is cancelled it is told, and ended a moment later.
 * - O4 Whatever it does to its process fails its step alone.
 */
import { type Command, type Context, defineCommand, type OwnSystem } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { beating } from '../../world/processes/beating.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import { ownEntry } from '../commands/project-commands.ts';
import { parametersOf, type OwnCommand } from '../../services/commands/own-commands.ts';
import type { OwnProcesses } from './own-processes.ts';
import type { JudgedSystem } from '../commands/project-systems.ts';

export const ownCommands = (commands: readonly OwnCommand[], processes: OwnProcesses): Command[] =>
  commands.map((own) => ownCommand(own, (params, context) => processes.perform(own, params, context)));

/** Of a system those that are `named`; with a problem, each fails and says why. */
export function systemCommands(
  { system, problem }: JudgedSystem,
  named: ReadonlySet<OwnCommand>,
  processes: OwnProcesses,
): Command[] {
  const of: OwnSystem = { name: system.name, events: system.events };
  const commands = system.commands.filter((own) => named.has(own));
  return commands.map((own) => ({
    ...ownCommand(own, async (params, context) => {
      if (problem !== null) throw new Failure('SYSTEM_UNUSABLE', `${own.name}: ${problem}`);
      return processes.perform(own, params, context);
    }),
    system: of,
    // It works on the tables of its system alone.
    ...(own.speed === 'quick' ? { secrets: 'sealed' as const } : {}),
  }));
}

const ownCommand = (own: OwnCommand, run: (params: Json, context: Context) => Promise<Json>): Command =>
  defineCommand({
    name: own.name,
    ...defined({ description: own.description, doors: own.doors }),
    ...ownEntry(own),
    secrets: 'values',
    params: Value,
    parameters: parametersOf(own.params) as JsonObject,
    result: Value,
    run: (params, context) => beating(context, () => run(params, context)),
  });
