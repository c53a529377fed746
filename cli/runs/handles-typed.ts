/** How handles are typed, before anything is connected to. */
import type { Command } from 'commander';
import { defined } from '../../language/defined.ts';

/** What a verb gets for `--last` in place of a handle; no run can have this handle. */
export const LAST = '@last';

/** Replaces `--last` where a verb takes a handle; words after `--` are not options. */
export function withLast(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => (word === '--last' && (end === -1 || at < end) ? LAST : word));
}

/** The words of a verb that names its run by --run: `--last` among them is the run. */
export function lastAsRun(words: readonly string[], run: string | undefined): { words: string[]; run?: string } {
  const others = words.filter((word) => word !== LAST);
  const named = run ?? (others.length < words.length ? LAST : undefined);
  return { words: others, ...defined({ run: named }) };
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
      '\nThe beginning of a handle is enough if only one run has it; --last stands for the latest run that a person started in this folder.',
    );
  return takes || below;
}
