/** A system: what belongs together, stated in one place. Systems meet through commands and events. */
import type * as z from 'zod';
import type { Store } from '../prisma/store/contract/contract.ts';
import type { Tables } from '../prisma/store/contract/system-contract.ts';
import type { Command, OwnSystem } from './command.ts';
import { defined } from '../language/defined.ts';
import type { StatedFailures } from '../language/stated-failures.ts';

/** `sentinel SYSTEM VERB …` performs a command; `args` are its parameters that come without a name. */
export interface Verb {
  summary: string;
  command: string;
  args?: readonly string[];
  /** Where each item of a list that it gives holds a definition, or the id that one is saved under: `--run` runs the first of them. */
  starts?: { definition: readonly string[]; id: readonly string[] };
}

/** `sentinel SYSTEM WORDS …` starts a run: `args` are the inputs of the definition that come without a name, all others are options. */
export interface Run {
  definition: string;
  args?: readonly string[];
}

export interface CommandQueue {
  /** How many commands a worker performs at once. */
  atOnce: number;
  /** Only workers that serve this queue alone perform them. */
  elsewhere?: boolean;
}

/** Quick commands that find what the names behind a model's `+` mean, in files that the provider can read. */
export interface ModelLayers {
  /** Gets `{ name }`, and answers with `{ path, scale }`, and `base`, the SHA-256 of the model's file, where it is for one alone; null: there is no such layer. */
  layer: string;
  /** Gets `{ persona }`, and answers with a list of the same; null: the persona has none. */
  genome: string;
}

export interface Background {
  everyMs: number;
  command: string;
  /** Of the engine's own: performed only where the configuration names a model that makes vectors. */
  needs?: 'embedding';
}

/** How something that a worker makes stands, for `doctor`. */
export interface Standing {
  name: string;
  ok: boolean;
  found: string;
  /** Where it is not ok. */
  remedy?: string;
}

/** What a worker makes beside its tables, from what the configuration of its project says. */
export interface Preparation {
  /** In place of the system's: its commands do not need them, and are performed where the configuration is not trusted. */
  settings: z.ZodType;
  /** It may take long, while steps are performed; whichever worker comes next goes on with it. What it did, as sentences for the log. */
  make(store: Store, set: object): Promise<string[]>;
  standings(store: Store, set: object): Promise<Standing[]>;
}

export interface System {
  /** Letters, digits and `-`; its tables begin with it. */
  name: string;
  /** One line, for lists. */
  summary: string;
  commands: readonly Command[];
  /** SQL by name, in the order in which it is applied; what was applied never changes. */
  tables?: Tables;
  /** The events that its commands publish: a name, or a pattern with `*`, and what its data is. */
  events?: { readonly [event: string]: z.ZodType };
  /** The codes with which its commands fail, beside those that a command states itself. */
  failures?: StatedFailures;
  /** Quick commands that are performed for each event, once, in order; `event` may be a pattern with `*`. */
  followers?: { readonly [name: string]: { event: string; command: string } };
  /** Task queues for commands that state one. */
  queues?: { readonly [name: string]: CommandQueue };
  /** Commands without parameters that are performed again and again, by one worker at a time; a long one as a run of one step. */
  background?: { readonly [name: string]: Background };
  /** What `settings.NAME` of a project's configuration may say; its commands have what it makes of that. */
  settings?: z.ZodType;
  prepares?: Preparation;
  layers?: ModelLayers;
  /** A quick command that says for whom somebody answers: gets `{ personaId }`, and answers with a list of `{ among, person }`. */
  answersFor?: string;
  verbs?: { readonly [verb: string]: Verb };
  /** What is started where the word behind the system's name is none of its verbs. */
  run?: Run;
}

export const defineSystem = (system: System): System => system;

/** Its commands, each of which knows whose it is. `set`: what the configuration of the project says. */
export function commandsOf(system: System, set: object = {}): Command[] {
  const { name, events, failures } = system;
  const own: OwnSystem = { name, settings: system.settings?.parse(set), ...defined({ events }) };
  return system.commands.map((command) => ({
    ...command,
    ...(failures === undefined ? {} : { failures: { ...failures, ...command.failures } }),
    system: own,
  }));
}

/** Makes the tables that are not there yet. Throws `TablesRefused`. */
export async function makeTables(store: Pick<Store, 'systems'>, systems: readonly System[]): Promise<void> {
  for (const { name, tables } of systems) if (tables !== undefined) await store.systems.apply(name, tables);
}
