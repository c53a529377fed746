/** How handles are typed, before anything is connected to. */
import type { Command } from 'commander';

/** What a verb gets for `--last` in place of a handle; no run can have this handle. */
export const LAST = '@last';

/** Replaces `--last` where a verb takes a handle; words after `--` are not options. */
export function withLast(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => (word === '--last' && (end === -1 || at < end) ? LAST : word));
}

/** Adds to the help of each verb that takes a handle how handles are written; true if the command has such a verb. */
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
