/**
 * What a project's `sentinel.config` makes commands with. It is imported there as `sentinel-engine/commands`:
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

export interface CommandContext {
  /** Aborts when the step is cancelled or its time is over. */
  signal: AbortSignal;
  /** The root of the run's project, absolute. */
  project: string;
  /** The same for every attempt at this step of this run, and no other's: an idempotency key. */
  key: string;
  /** From 1; above that, an attempt before may have done part of it. */
  attempt: number;
}

export interface CommandDefinition<Params extends z.ZodType = z.ZodType, Result extends z.ZodType = z.ZodType> {
  /** Letters, digits, `_` and `-`, in parts with `/` between them. */
  name: string;
  /** One sentence, for models that may call it. */
  description?: string;
  permission: CommandPermission;
  /** `quick`: reads, is done at once, and is performed together with the steps around it. Default: `long`. */
  speed?: 'quick' | 'long';
  /** How long a step may take that does not say. */
  timeoutMs?: number;
  /** The field that stands for the result where it is used as text. */
  textField?: string;
  params: Params;
  result: Result;
  run(params: z.output<Params>, context: CommandContext): z.input<Result> | Promise<z.input<Result>>;
}

export function defineCommand<Params extends z.ZodType, Result extends z.ZodType>(
  command: CommandDefinition<Params, Result>,
): CommandDefinition<Params, Result> {
  return command;
}

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
