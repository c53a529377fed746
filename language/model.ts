/**
 * The canonical definition: what the reader produces and everything after it consumes.
 *
 * Schema and type share a name. Other spellings (dialects) are rewritten to this form in `read/`;
 * after that the types below are facts and nobody checks again. Workflow code imports the types
 * only: zod never enters the workflow bundle.
 */
import { z } from 'zod';
import type { Json } from './json.ts';

export const Value: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(Value), z.record(z.string(), Value)]),
);

const Name = z.string().min(1).max(200);
const Milliseconds = z.number().int().positive();
const Expression = z.string().min(1);

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

export const Trigger = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('immediate') }),
  z.strictObject({ type: z.literal('manual') }),
  z.strictObject({ type: z.literal('event'), event: z.string().min(1) }),
  z.strictObject({ type: z.literal('schedule'), cronExpression: z.string().min(1) }),
]);
export type Trigger = z.infer<typeof Trigger>;

export const Safety = z.strictObject({
  maxIterations: z.number().int().positive().optional(),
  timeoutMs: Milliseconds.optional(),
  maxStepTimeoutMs: Milliseconds.optional(),
  maxMemoryMb: z.number().int().positive().optional(),
  maxNestingDepth: z.number().int().positive().optional(),
  onTimeout: z.enum(['stop', 'pause']).optional(),
  requireApproval: z.array(z.enum(['write', 'shell', 'delete', 'network'])).optional(),
});
export type Safety = z.infer<typeof Safety>;

/** Retries of one step: `attempts` counts the first try; waits grow by `factor` up to `maxBackoffMs`. */
export const Retry = z.strictObject({
  attempts: z.number().int().min(1).max(1000),
  backoffMs: Milliseconds.optional(),
  factor: z.number().min(1).optional(),
  maxBackoffMs: Milliseconds.optional(),
});
export type Retry = z.infer<typeof Retry>;

export const Rule = z.strictObject({
  pattern: z.string().min(1),
  classification: z.string().min(1),
  action: z.string().min(1).optional(),
});
export type Rule = z.infer<typeof Rule>;

const Common = {
  name: Name.optional(),
  outputTo: Name.optional(),
  onError: z.enum(['fail', 'skip', 'retry']).optional(),
  retry: Retry.optional(),
  timeoutMs: Milliseconds.optional(),
};

export const ShellStep = z.strictObject({
  type: z.literal('shell'),
  command: z.string().min(1),
  args: z.array(Value).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), Value).optional(),
  stdin: Value.optional(),
  ...Common,
});
export type ShellStep = z.infer<typeof ShellStep>;

export const CommandStep = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  params: z.record(z.string(), Value).optional(),
  ...Common,
});
export type CommandStep = z.infer<typeof CommandStep>;

export const LlmStep = z.strictObject({
  type: z.literal('llm'),
  prompt: z.string().optional(),
  system: z.string().optional(),
  model: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  tools: z.array(z.string()).optional(),
  parseToolCalls: z.boolean().optional(),
  schema: Value.optional(),
  autoCompact: z
    .strictObject({ threshold: z.number().positive(), strategy: z.enum(['summarize', 'truncate']) })
    .optional(),
  ...Common,
});
export type LlmStep = z.infer<typeof LlmStep>;

export const WatchStep = z.strictObject({
  type: z.literal('watch'),
  executionId: z.string().min(1).optional(),
  rules: z.array(Rule).optional(),
  until: z.enum(['finished', 'error', 'match']).optional(),
  event: z.string().min(1).optional(),
  ...Common,
});
export type WatchStep = z.infer<typeof WatchStep>;

export const EmitStep = z.strictObject({
  type: z.literal('emit'),
  event: z.string().min(1),
  data: Value.optional(),
  ...Common,
});
export type EmitStep = z.infer<typeof EmitStep>;

export const ConditionStep = z.strictObject({
  type: z.literal('condition'),
  check: Expression,
  get then(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  get else(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  name: Name.optional(),
});
export type ConditionStep = z.infer<typeof ConditionStep>;

/** `steps` run in order, once a pass of `loop`. */
export const LoopStep = z.strictObject({
  type: z.literal('loop'),
  loop: LoopConfig,
  get steps(): z.ZodArray<typeof Step> {
    return z.array(Step);
  },
  name: Common.name,
  outputTo: Common.outputTo,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
});
export type LoopStep = z.infer<typeof LoopStep>;

/** Each member of `branches` is a sequence of steps of its own; all start at once. */
export const ParallelStep = z.strictObject({
  type: z.literal('parallel'),
  get branches(): z.ZodArray<z.ZodArray<typeof Step>> {
    return z.array(z.array(Step));
  },
  failFast: z.boolean().optional(),
  maxConcurrency: z.number().int().positive().optional(),
  name: Common.name,
  outputTo: Common.outputTo,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
});
export type ParallelStep = z.infer<typeof ParallelStep>;

export const DefinitionRef = z.strictObject({ $ref: z.string().min(1) });
export type DefinitionRef = z.infer<typeof DefinitionRef>;

/** A nested sentinel runs as a run of its own; it inherits the parent's variables plus `inputs`. */
export const SentinelStep = z.strictObject({
  type: z.literal('sentinel'),
  get definition(): z.ZodUnion<[typeof DefinitionRef, typeof Definition]> {
    return z.union([DefinitionRef, Definition]);
  },
  await: z.boolean().optional(),
  inputs: z.record(z.string(), Value).optional(),
  name: Common.name,
  outputTo: Common.outputTo,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
});
export type SentinelStep = z.infer<typeof SentinelStep>;

export const Step = z.discriminatedUnion('type', [
  ShellStep,
  CommandStep,
  LlmStep,
  WatchStep,
  EmitStep,
  ConditionStep,
  LoopStep,
  ParallelStep,
  SentinelStep,
]);
export type Step = z.infer<typeof Step>;
export type StepType = Step['type'];

/** `step`: every step is an activity of its own; `segment` (default): quick steps share one. */
export const Durability = z.enum(['segment', 'step']);

export const Definition = z.strictObject({
  $schema: z.string().optional(),
  id: z.string().min(1).optional(),
  name: Name,
  description: z.string().optional(),
  recipe: z.string().optional(),
  ragSources: z.array(z.string()).optional(),
  tools: z.array(z.string()).optional(),
  get steps(): z.ZodArray<typeof Step> {
    return z.array(Step);
  },
  loop: LoopConfig,
  trigger: Trigger.optional(),
  timeoutMs: Milliseconds.optional(),
  safety: Safety.optional(),
  mode: z.enum(['full', 'readonly', 'sandboxed']).optional(),
  durability: Durability.optional(),
  strict: z.boolean().optional(),
  inputs: z.record(z.string(), Value).optional(),
});
export type Definition = z.infer<typeof Definition>;
