/**
 * A verb with verbs of its own (`sentinel schedule create`): each has --help, --json and examples like any other.
 * What may stand before the verb as well is read with `optsWithGlobals`.
 */
import type { Command } from 'commander';
import { usage } from './usage.ts';
import { nearestOf } from '../../client/nearest.ts';
import { declareKind, type VerbKind } from './verb-kind.ts';

export type Defining = (command: Command) => void;

export interface GroupVerb {
  summary: string;
  kind: VerbKind;
  define: Defining;
}

export function defineGroup(group: Command, subverbs: { [name: string]: GroupVerb }): void {
  const names = Object.keys(subverbs);
  group
    .argument('[verb]')
    .usage('VERB [options]')
    .helpCommand(false)
    .allowExcessArguments()
    .action((given: string | undefined) => {
      if (given === undefined)
        throw usage(
          `"sentinel ${group.name()}" needs a verb: write one of ${names.join(', ')}, or see "sentinel ${group.name()} --help".`,
        );
      throw noVerbOf(group, given);
    });
  for (const [name, { summary, kind, define }] of Object.entries(subverbs)) {
    const command = group
      .command(name)
      .summary(summary)
      .helpOption('-h, --help', 'show this')
      .option('--json', 'print JSON alone on stdout');
    declareKind(command, kind);
    define(command);
  }
}

export function noVerbOf(group: Command, given: string): Error {
  const names = group.commands.map((command) => command.name());
  const hint = nearestOf(given, names, (name) => `write "${name}", or `);
  return usage(`"${given}" is not a verb of "sentinel ${group.name()}"; ${hint}see "sentinel ${group.name()} --help".`);
}
