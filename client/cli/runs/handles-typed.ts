/** How handles are typed, before anything is connected to. */
import type { Command } from 'commander';

/** How `--last` reaches a verb in place of a handle; no run can be called so. */
export const LAST = '@last';

/** `--last` where a verb takes a handle; the words behind `--` are nobody's options. */
export function withLast(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => (word === '--last' && (end === -1 || at < end) ? LAST : word));
}

/** Says in the help of each verb that takes a handle how it may be written; whether there is one. */
export function describeHandles(command: Command): boolean {
  const below = command.commands.map((verb) => describeHandles(verb)).includes(true);
  const takes =
    command.registeredArguments.some((argument) => /handle/.test(argument.name())) ||
    command.options.some(({ long, flags }) => long !== '--id' && flags.includes('<handle>'));
  if (takes)
    command.addHelpText(
      'after',
      '\nThe beginning of a handle is enough if only one run has it; --last stands for the latest run in this folder.',
    );
  return takes || below;
}
