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

export interface Abortable {
  /** Ends what it has begun, and this alone. */
  signal?: AbortSignal | undefined;
}

/** What a run is started with: a definition or the name of a saved one, steps, or a command line; each with inputs. */
export type RunStart = { inputs?: { [name: string]: Json } } & (
  | { definition: string | { [field: string]: Json } }
  | { name: string }
  | { type: 'pipeline'; steps: { [field: string]: Json }[]; name?: string }
  | { command: string; args?: Json[] }
);

export interface RunTold {
  handle: string;
  status: string;
  /** Why it is held. */
  reason: string | null;
  /** From then on until it has ended. */
  ending: boolean;
}

export interface RunQuestion {
  id: string;
  kind: string;
  message: string;
  choices: string[];
  show: Json;
  /** The JSON Schema of the data that an answer carries. */
  form: { [field: string]: Json } | null;
  /** The persona that is asked. */
  assignee: string;
  expiresAt: number | null;
  digest: string;
}

export interface RunStanding {
  handle: string;
  name: string;
  status: string;
  hasEnded: boolean;
  outcome: string | null;
  /** The limit that ended it. */
  limit: string | null;
  outputs: { [name: string]: Json } | null;
  failure: { code: string; message: string; details: { [field: string]: Json } | null } | null;
  /** What it asks now; empty once it has ended. */
  questions: RunQuestion[];
}

export interface RunAwaited extends Abortable {
  /** `asked`: until it has ended, or asks something. Default: `ended`. */
  until?: 'ended' | 'asked';
  /** How long at most; then it says how the run stands. Without it, the step fails when its time is over. */
  timeoutMs?: number;
  /** The run, which this command has started, is cancelled where the step is, or its time is over. */
  cancels?: boolean;
}

export interface RunAnswer {
  choice: 'approve' | 'reject' | 'skip' | 'stop' | 'abort';
  note?: string;
  data?: Json;
  /** Of the question that was seen: what has changed since is not answered. */
  digest?: string;
}

/** A step by its path, or by its place among the steps of the run. */
export type StepChange = { index: number | string; note?: string } & (
  | { op: 'add'; step: { [field: string]: Json } }
  | { op: 'update'; step: { [field: string]: Json } }
  | { op: 'update'; params: { [param: string]: Json } }
  | { op: 'remove' }
);

/** Of a long command. Each word needs the permission of its command, such as `sentinel/stop`, but for runs that this command has started itself. */
export interface Runs {
  /** Once for the step: the next attempt gets the run that the first has started. For commands that state `uses.runs`. */
  start(what: RunStart): Promise<{ handle: string; workflowId: string }>;
  status(handle: string): Promise<{ [field: string]: Json }>;
  pause(handle: string, said?: { reason?: string }): Promise<RunTold>;
  resume(handle: string): Promise<RunTold>;
  stop(handle: string): Promise<RunTold>;
  cancel(handle: string): Promise<RunTold>;
  /** Its steps as they stand. */
  steps(handle: string): Promise<{ [field: string]: Json }>;
  /** Once for the step. For commands that state `uses.edits`. */
  edit(handle: string, change: StepChange): Promise<{ [field: string]: Json }>;
  /** Answers what it asks; the first answer counts. `approve` is for what a run asks that this command has started. */
  answer(handle: string, question: string, answer: RunAnswer): Promise<{ [field: string]: Json }>;
  /** Tells the model that is at work there something before its next turn, once for the step. */
  tell(handle: string, text: string, at?: { step?: string }): Promise<{ [field: string]: Json }>;
  /** Waits until it has ended. */
  result(handle: string, awaited?: RunAwaited): Promise<RunStanding>;
}

export interface ModelAsked {
  prompt?: string;
  system?: string;
  messages?: { role: 'user' | 'assistant'; content: string }[];
  /** Paths in the project. */
  images?: string[];
  /** The JSON Schema that the answer fits. */
  schema?: { [field: string]: Json };
  model?: string;
  temperature?: number;
  maxTokens?: number;
  thinking?: string;
}

export interface ModelAnswer {
  text: string;
  /** What the text holds where it is JSON, else the text. */
  data: Json;
  stopReason: string;
  /** That answered. */
  model: string;
  usage: { [field: string]: Json };
}

export interface Spawned extends Abortable {
  /** With them the command is a program; without them a shell reads it. */
  args?: readonly (string | number | boolean)[];
  /** In the project. */
  cwd?: string;
  env?: { readonly [name: string]: string | number | boolean };
  stdin?: string;
  timeoutMs?: number;
}

export interface ProcessEnd {
  exitCode: number;
  signal?: string;
  stdout: string;
  stderr: string;
  /** Both, in order of arrival. */
  output: string;
  durationMs: number;
  success: boolean;
  truncated?: boolean;
}

export interface CommandContext {
  /** Aborts when the step is cancelled or its time is over. */
  signal: AbortSignal;
  /** The folder that the step works in, absolute: the root of the run's project, or its workspace. */
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
   * this command, and a quick one calls only quick ones. What the other refuses is thrown, with its code. `runs`, `ask`
   * and `spawn` are calls, too.
   */
  call(command: string, params?: { [param: string]: Json }, options?: Abortable): Promise<Json>;
  runs: Runs;
  /**
   * One answer of a model; a text is its prompt. It is kept, so the next attempt does not pay for it again, and counts
   * against the budget of the run. Of a long command that states `uses.models`.
   */
  ask(what: string | ModelAsked, options?: Abortable): Promise<ModelAnswer>;
  /**
   * A process of the step, held in as its shell lines are, and its end. What it prints is in the log of the step. It ends
   * with the step, and with `signal`. Of a long command with the permission `shell`.
   */
  spawn(command: string, options?: Spawned): Promise<ProcessEnd>;
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
  /**
   * What it does beside what its permission says, for its run to judge and to count before: how many runs it starts at
   * most each time, that it asks models, that it changes steps of runs. Of a long command that does more than read.
   */
  uses?: { runs?: number; models?: true; edits?: true };
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
  /**
   * Quick commands that find what the names behind a model's `+` mean. `layer` gets `{ name }` and answers with `{ path, scale }`
   * (and `base`, the SHA-256 of the model's file, where it is for no other),
   * `genome` gets `{ persona }` and answers with a list of these; null: there is none.
   */
  layers?: { layer: string; genome: string };
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
