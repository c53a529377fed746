/**
 * A verb with verbs of its own (`sentinel schedule create`): each has --help, --json and examples like any other.
 * What may stand before the verb as well is read with `optsWithGlobals`.
 */
import type { Command } from 'commander';
import { usage } from './usage.ts';
import { meantVerb } from './meant-verb.ts';
import { declareKind, type VerbKind } from './verb-kind.ts';

export type Defining = (command: Command) => void;

export interface Subverb {
  summary: string;
  kind: VerbKind;
  define: Defining;
}

export function defineSubverbs(verb: Command, subverbs: { [name: string]: Subverb }): void {
  const names = Object.keys(subverbs);
  verb
    .argument('[verb]')
    .usage('VERB [options]')
    .helpCommand(false)
    .allowExcessArguments()
    .action((given: string | undefined) => {
      if (given === undefined)
        throw usage(
          `"sentinel ${verb.name()}" needs a verb: write one of ${names.join(', ')}, or see "sentinel ${verb.name()} --help".`,
        );
      throw noVerbOf(verb, given);
    });
  for (const [name, { summary, kind, define }] of Object.entries(subverbs)) {
    const command = verb
      .command(name)
      .summary(summary)
      .helpOption('-h, --help', 'show this')
      .option('--json', 'print JSON alone on stdout');
    declareKind(command, kind);
    define(command);
  }
}

export function noVerbOf(verb: Command, given: string): Error {
  const names = verb.commands.map((command) => command.name());
  const hint = meantVerb(given, names);
  return usage(`"${given}" is not a verb of "sentinel ${verb.name()}"; ${hint}see "sentinel ${verb.name()} --help".`);
}
