/** What surrounds the steps of a definition: loops, triggers, safety, retries and rules. `model.ts` is the door to it. */
import * as z from 'zod';
import type { Json } from './json.ts';

export const Value: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(Value), z.record(z.string(), Value)]),
);

export const Name = z.string().min(1).max(200);
export const Milliseconds = z.number().int().positive();
export const Expression = z.string().min(1);

/** Whether a process that ends with a code other than 0 has failed its step. */
export const FailOn = z.enum(['never', 'nonzero']);
export type FailOn = z.infer<typeof FailOn>;

/** What holds for steps of a definition that do not say. */
export const Defaults = z.strictObject({ shell: z.strictObject({ failOn: FailOn.optional() }).optional() });
export type Defaults = z.infer<typeof Defaults>;

/** `max` may be a number or an expression (`"$plan.files.length"`), read when the loop starts. */
const LoopMax = z.union([z.number().int().nonnegative(), Expression]);

/** `over` names the array a loop walks; pass N binds item N−1 to the variable `as`. */
const Item = { over: Expression.optional(), as: Name.optional() };
const LoopBounds = { maxIterations: z.number().int().positive().optional(), timeoutMs: Milliseconds.optional() };

export const LoopConfig = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('once') }),
  z.strictObject({ type: z.literal('count'), max: LoopMax, ...Item, ...LoopBounds }),
  z.strictObject({ type: z.literal('until'), check: Expression, max: LoopMax.optional(), ...Item, ...LoopBounds }),
  z.strictObject({ type: z.literal('while'), check: Expression, max: LoopMax.optional(), ...Item, ...LoopBounds }),
  z.strictObject({
    type: z.literal('continuous'),
    intervalMs: z.number().int().nonnegative().optional(),
    max: LoopMax.optional(),
    ...Item,
    ...LoopBounds,
  }),
  z.strictObject({ type: z.literal('event'), event: z.string().min(1), max: LoopMax.optional(), ...LoopBounds }),
]);
export type LoopConfig = z.infer<typeof LoopConfig>;

/** Of the runs of a project that name the same group, one at a time goes on. */
export const Concurrency = z.strictObject({
  /** A text with references to the inputs, read as the run starts. */
  group: z.string().min(1),
  /** What a run does that finds the group held; `queue` when absent. */
  onConflict: z.enum(['queue', 'skip', 'cancel']).optional(),
});
export type Concurrency = z.infer<typeof Concurrency>;

export const Trigger = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('immediate') }),
  z.strictObject({ type: z.literal('manual') }),
  z.strictObject({
    type: z.literal('event'),
    event: z.string().min(1),
    /** Over `$event`: events for which it does not hold start nothing. */
    filter: Expression.optional(),
    /** A run starts once no further event has come for so long, with the last one. */
    debounceMs: Milliseconds.optional(),
  }),
  z.strictObject({
    type: z.literal('schedule'),
    cronExpression: z.string().min(1),
    /** An IANA name (`Europe/Zurich`); UTC when absent. */
    timeZone: z.string().min(1).optional(),
    /** What happens when a run is due while the one before it still goes on. */
    overlap: z.enum(['skip', 'buffer', 'cancel', 'all']).optional(),
    /** How late a run may start that was missed while the server was away. */
    catchupWindowMs: Milliseconds.optional(),
    /** Each start is late by a random time up to this. */
    jitterMs: z.number().int().nonnegative().optional(),
  }),
]);
export type Trigger = z.infer<typeof Trigger>;

/** What a run may spend, with all runs nested in it. */
export const Budget = z.strictObject({
  steps: z.number().int().positive().optional(),
  tokens: z.number().int().positive().optional(),
  usd: z.number().positive().optional(),
  wallMs: Milliseconds.optional(),
});
export type Budget = z.infer<typeof Budget>;

export const Safety = z.strictObject({
  maxIterations: z.number().int().positive().optional(),
  timeoutMs: Milliseconds.optional(),
  maxStepTimeoutMs: Milliseconds.optional(),
  maxMemoryMb: z.number().int().positive().optional(),
  maxNestingDepth: z.number().int().positive().optional(),
  onTimeout: z.enum(['stop', 'pause']).optional(),
  requireApproval: z.array(z.enum(['write', 'shell', 'delete', 'network'])).optional(),
  /** Protected files that models may reach all the same: paths, without patterns. */
  allowFiles: z.array(z.string().min(1)).optional(),
  budget: Budget.optional(),
});
export type Safety = z.infer<typeof Safety>;

/** Several who are asked one question. */
export const Approvers = z.strictObject({
  /** Personas and groups. */
  of: z.array(z.string().min(1)).min(1),
  /** How many different persons of them have to approve. */
  atLeast: z.number().int().positive().optional(),
});
export type Approvers = z.infer<typeof Approvers>;

/** Retries of one step: `attempts` counts the first try; waits grow by `factor` up to `maxBackoffMs`. */
export const Retry = z.strictObject({
  attempts: z.number().int().min(1).max(1000),
  backoffMs: Milliseconds.optional(),
  factor: z.number().min(1).optional(),
  maxBackoffMs: Milliseconds.optional(),
  /** After which failures alone, those included that a command says no repeat changes. */
  on: z.array(z.string().min(1)).min(1).optional(),
});
export type Retry = z.infer<typeof Retry>;

/** How long a model thinks before it answers. */
export const Effort = z.enum(['off', 'low', 'medium', 'high', 'max']);
export type Effort = z.infer<typeof Effort>;

const Loops = z.number().int().min(0).max(8);

/** An effort, or a depth that adapts to what the step may do (interpreter/models/thinking-depth.ts). */
export const Thinking = z.union([
  Effort,
  z.strictObject({
    depth: z.number().int().min(1).max(16),
    /** How sure the model has to be of its answer, 0 to 1. */
    exit: z.number().min(0).max(1).optional(),
    /** Depth that a class of commands adds to what it asks for anyway. */
    safetyBoost: z
      .strictObject({
        read: Loops.optional(),
        write: Loops.optional(),
        shell: Loops.optional(),
        delete: Loops.optional(),
        network: Loops.optional(),
      })
      .optional(),
  }),
]);
export type Thinking = z.infer<typeof Thinking>;

/** When a run turns to its persona, and how. */
export const EscalationRule = z.strictObject({
  condition: z.enum(['error', 'timeout', 'unfamiliar', 'approval_needed', 'complete']),
  action: z.enum(['pause', 'notify', 'abort']),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
  /** Of questions: how long one is open before its persona is reminded of it. */
  remindAfterMs: Milliseconds.optional(),
});
export type EscalationRule = z.infer<typeof EscalationRule>;

export const Rule = z.strictObject({
  pattern: z.string().min(1),
  classification: z.string().min(1),
  action: z.string().min(1).optional(),
});
export type Rule = z.infer<typeof Rule>;
