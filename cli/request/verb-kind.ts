/**
 * Whether a verb may touch the services. A process runs one verb, and main.ts declares it here before its
 * code begins, from the table of verbs (verbs.ts) or of a group (subverbs.ts): the clients that the verb opens
 * behave accordingly, so a verb that only looks cannot start anything by mistake.
 */
import type { Command } from 'commander';

/**
 * `looks`: uses services as they are, and neither starts, stops nor changes one.
 * `acts`: starts those that are ours and not up, and changes them over to the settings of its shell.
 */
export type VerbKind = 'looks' | 'acts';

let declared: VerbKind = 'looks';

/** A function says it by the options that are given. */
export function declareKind(command: Command, kind: VerbKind | ((options: object) => VerbKind)): void {
  command.hook('preAction', () => {
    declared = typeof kind === 'string' ? kind : kind(command.opts());
  });
}

export const declaredKind = (): VerbKind => declared;
