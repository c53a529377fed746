/**
 * What a project's `sentinel.config`, and a package that brings a system, make commands and systems with. It is imported there as `sentinel-engine/commands`:
 *
 *     import { defineCommand, z } from 'sentinel-engine/commands';
 *
 *     const ticket = defineCommand({
 *       name: 'tracker/ticket',
 *       description: 'Reads a ticket of the tracker.',
 *       permission: 'network',
 *       params: z.strictObject({ id: z.string() }),
 *       result: z.object({ title: z.string(), text: z.string() }),
 *       textField: 'text',
 *       run: async ({ id }, { signal }) => (await fetch(`https://tracker.example/${id}`, { signal })).json(),
 *     });
 */
import type * as z from 'zod';

/** What a command may touch; `mode` of a run and its approvals go by it. */
export type CommandPermission = 'read' | 'write' | 'shell' | 'delete' | 'network';

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

/** Who calls: a step of a run, a person at the command line, an agent over MCP, a follower that heard an event, or the background of a system. */
export type Caller =
  | { kind: 'step'; handle: string; persona: string; byModel: boolean }
  | { kind: 'person'; name: string }
  | { kind: 'agent'; name: string }
  | { kind: 'follower'; name: string }
  | { kind: 'background'; name: string };

/** The tables of the system. What is written, the events and the result of the command are one transaction. */
export interface Tx {
  /**
   * One statement of SQL, `$1` for the first of `values`, and its rows as JSON (a time is ISO text). A command with the
   * permission `read` can only `select`. Fails with `STATEMENT_REFUSED`; all that the command had written is gone then.
   */
  query<Row = { [column: string]: Json }>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** An event that the system states in `events`, once for the step however often it is tried. */
  publish(event: string, data?: Json): Promise<void>;
}

/** How many places a lease has, and who shares it. */
export interface LeaseTerms {
  /** From 1. Who asked last for the first time decides how many there are; nobody loses a place by that. */
  capacity: number;
  /** The steps of this project, which is the default, or of all projects of this installation. */
  scope?: 'project' | 'installation';
}

export interface CommandContext {
  /** Aborts when the step is cancelled or its time is over. */
  signal: AbortSignal;
  /** The root of the run's project, absolute. */
  project: string;
  /** The same for every attempt at this step of this run, and no other's: an idempotency key. */
  key: string;
  /** From 1; above that, an attempt before may have done part of it. */
  attempt: number;
  /** What the attempt before had handed to `heartbeat`; null where there was none. */
  resumed: Json;
  caller: Caller;
  /** What `settings` of the system made of the configuration; undefined where it has none. */
  settings: unknown;
  tx: Tx;
  /**
   * Performs another command, built in or of another system, within this step. It needs the permission `read` or that of
   * this command, and a quick one calls only quick ones. What the other refuses is thrown, with its code.
   */
  call(command: string, params?: { [param: string]: Json }): Promise<Json>;
  /**
   * Waits for a place in the lease of this name, and resolves when the step has it. At most `capacity` steps have one at
   * a time; the others have their turn in the order in which they asked. Call what it resolves to to leave the place; the
   * end of the command leaves it, too. Only for long commands, and before the first statement of `tx`.
   */
  lease(name: string, terms: LeaseTerms): Promise<() => Promise<void>>;
  /** A line in the log of the step. */
  log(text: string): void;
  /** Says that a long command is alive, and what the next attempt is to know. */
  heartbeat(details?: Json): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What a code means; `retryable: false`: the same again ends the same, so a step's `retry` does not repeat it. */
export type StatedFailure = string | { readonly title: string; readonly retryable: boolean };

export interface CommandDefinition<Params extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`, in parts with `/` between them. */
  name: string;
  /** One sentence, for models that may call it. */
  description?: string;
  permission: CommandPermission;
  /**
   * `quick`: is done at once, reads, or writes the tables of its system alone, and is performed together with the steps
   * around it. Default: `long`.
   */
  speed?: 'quick' | 'long';
  /** How long a step may take that does not say. */
  timeoutMs?: number;
  /** The field that stands for the result where it is used as text. */
  textField?: string;
  /** By whom it may be called; all where it is left out. */
  doors?: readonly ('step' | 'model' | 'person' | 'agent' | 'follower' | 'background')[];
  /** Of a long command of a system: the task queue on which it is performed, one of `queues` of the system. */
  queue?: string;
  /** The codes with which it fails (`CommandFailure`). A system may state those that its commands share. */
  failures?: { readonly [code: string]: StatedFailure };
  /** What a simulation takes for its result: it runs in the simulation itself, and does nothing. */
  predict?(params: z.output<Params>): z.input<Result>;
  params: Params;
  result: Result;
  run(params: z.output<Params>, context: CommandContext): z.input<Result> | Promise<z.input<Result>>;
}

export function defineCommand<Params extends z.ZodType, Result extends z.ZodType>(
  command: CommandDefinition<Params, Result>,
): CommandDefinition<Params, Result> {
  return command;
}

/** A package, or a part of a project, that adds commands with tables, events and settings of their own. */
export interface SystemDefinition {
  /** Small letters, digits and `-`. Its commands begin with `NAME/`, its events with `NAME:`, its tables with `NAME_`. */
  name: string;
  /** One line, for lists. */
  summary: string;
  commands: readonly CommandDefinition[];
  /** SQL by name, in the order in which it is applied. What was applied never changes: put a change into a new entry. */
  tables?: { readonly [name: string]: string };
  /** The events that it publishes, each with the schema of its data; `*` in a name stands for any text. */
  events?: { readonly [event: string]: z.ZodType };
  /** The codes with which its commands fail (`CommandFailure`), beside those that a command states itself. */
  failures?: { readonly [code: string]: StatedFailure };
  /** The schema of what `settings` of its entry in `systems` may say. */
  settings?: z.ZodType;
  /** Definitions that `sentinel run NAME` and `$ref` find in the project. */
  definitions?: { readonly [name: string]: object };
  /** Commands that are performed for each event: of the system's own or of others, once, in order. */
  followers?: { readonly [name: string]: { event: string; command: string } };
  /** Task queues for commands that state one: how many a worker performs at once, and whether only `sentinel worker --queue NAME` does. */
  queues?: { readonly [name: string]: { atOnce: number; elsewhere?: boolean } };
  /** Commands that are performed again and again, by one worker at a time. A long one is a run of one step. */
  background?: { readonly [name: string]: { everyMs: number; command: string } };
  /** Verbs of the command line: `sentinel SYSTEM VERB …` performs a command; `args` are its parameters that come without a name. */
  verbs?: { readonly [verb: string]: { summary: string; command: string; args?: readonly string[] } };
}

export const defineSystem = (system: SystemDefinition): SystemDefinition => system;

/** Thrown by a command, it fails the step with a code that `onError` and a retry can tell from others. */
export class CommandFailure extends Error {
  /** Capitals, digits and `_`. */
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: string, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CommandFailure';
    this.code = code;
    this.details = options.details;
  }
}
