/**
 * The canonical definition: what the reader produces and everything after it consumes.
 *
 * Schema and type share a name. Other spellings (dialects) are rewritten to this form in `read/`;
 * after that the types below are facts and nobody checks again. Workflow code imports the types
 * only: zod never enters the workflow bundle.
 */
import * as z from 'zod';
import {
  Concurrency,
  Defaults,
  EscalationRule,
  Expression,
  FailOn,
  LoopConfig,
  Milliseconds,
  Name,
  Approvers,
  Retry,
  Rule,
  Safety,
  Thinking,
  Trigger,
  Value,
} from './settings.ts';

export {
  Approvers,
  Budget,
  Concurrency,
  EscalationRule,
  LoopConfig,
  Retry,
  Rule,
  Safety,
  Trigger,
  Value,
} from './settings.ts';

const Common = {
  name: Name.optional(),
  outputTo: Name.optional(),
  onError: z.enum(['fail', 'skip', 'retry']).optional(),
  retry: Retry.optional(),
  timeoutMs: Milliseconds.optional(),
};

/** Names the command that says whether something was done of which nobody saw the end. */
export const Verification = z.strictObject({
  verify: z.string().min(1),
  params: z.record(z.string(), Value).optional(),
});
export type Verification = z.infer<typeof Verification>;

/** What becomes of something that was begun, and of which nobody knows whether it was done. */
export const OnUnknown = z.union([z.enum(['ask', 'skip', 'retry']), Verification]);
export type OnUnknown = z.infer<typeof OnUnknown>;

export const ShellStep = z.strictObject({
  type: z.literal('shell'),
  command: z.string().min(1),
  args: z.array(Value).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), Value).optional(),
  stdin: Value.optional(),
  /** `never` when absent, and where the definition has no default. */
  failOn: FailOn.optional(),
  /** Of its process; `retry` when absent. */
  onUnknown: OnUnknown.optional(),
  ...Common,
});
export type ShellStep = z.infer<typeof ShellStep>;

export const CommandStep = z.strictObject({
  type: z.literal('command'),
  command: z.string().min(1),
  params: z.record(z.string(), Value).optional(),
  /** Of `code/shell/execute`. */
  failOn: FailOn.optional(),
  ...Common,
});
export type CommandStep = z.infer<typeof CommandStep>;

/** `threshold`: the share of the model's window that the prompt and the room for its answer may fill. */
export const AutoCompact = z.strictObject({
  threshold: z.number().positive().max(1).optional(),
  strategy: z.enum(['summarize', 'truncate']).optional(),
});

export const LlmStep = z.strictObject({
  type: z.literal('llm'),
  prompt: z.string().optional(),
  system: z.string().optional(),
  /** What was said before the prompt. */
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() })).optional(),
  /** Pictures in the project, by path, that go with the prompt. */
  images: z.array(z.string().min(1)).optional(),
  model: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Tokens of one answer. */
  maxTokens: z.number().int().positive().optional(),
  maxTurns: z.number().int().positive().optional(),
  thinking: Thinking.optional(),
  tools: z.array(z.string()).optional(),
  parseToolCalls: z.boolean().optional(),
  /** Of each of its calls; `ask` when absent. */
  onUnknown: OnUnknown.optional(),
  schema: Value.optional(),
  /** `false`: the conversation is never shortened. */
  autoCompact: z.union([AutoCompact, z.boolean()]).optional(),
  /** Ends the turns: read after each turn, when its calls have ended. */
  stopWhen: Expression.optional(),
  /** What happens when the model turns in circles. */
  onStuck: z.enum(['escalate', 'answer', 'fail', 'ignore']).optional(),
  /** Turns without a change to the project after which it does. */
  unchangedTurns: z.number().int().positive().optional(),
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

/**
 * Waits for a persona's answer. The result is `{choice, approved, note, data, by}`; a rejection is a
 * failure of the step, which follows `onError`.
 */
export const ApprovalStep = z.strictObject({
  type: z.literal('approval'),
  message: z.string().min(1),
  /** What the persona needs to see to decide. */
  show: Value.optional(),
  /** A JSON Schema of the data an answer must carry. */
  form: z.record(z.string(), Value).optional(),
  /** The persona that is asked; the run's own when absent. */
  assignee: z.string().min(1).optional(),
  /** Several who are asked, in place of `assignee`. */
  approvers: Approvers.optional(),
  /** What counts as answered when nobody did within `timeoutMs`. */
  onTimeout: z.enum(['reject', 'approve', 'fail']).optional(),
  /** How long it waits before whoever is asked is reminded; in place of what a rule for `approval_needed` says. */
  remindAfterMs: Milliseconds.optional(),
  ...Common,
});
export type ApprovalStep = z.infer<typeof ApprovalStep>;

/** A failure of the definition's own, which goes the way of any other. */
export const FailStep = z.strictObject({
  type: z.literal('fail'),
  message: z.string().min(1),
  /** What tells this failure from others; never one of ours (`FAILURE_CODES`). */
  code: z.string().min(1).optional(),
  name: Common.name,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
});
export type FailStep = z.infer<typeof FailStep>;

/** Sets variables: each value is read, and then all are set. */
export const SetStep = z.strictObject({
  type: z.literal('set'),
  values: z.record(z.string().min(1), Value),
  name: Common.name,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
});
export type SetStep = z.infer<typeof SetStep>;

/** Waits for a time, or until one; exactly one of the two is there. */
export const SleepStep = z.strictObject({
  type: z.literal('sleep'),
  /** Milliseconds, or a template that gives them. */
  durationMs: z.union([z.number().int().nonnegative(), z.string().min(1)]).optional(),
  /** A time as ISO 8601 with its zone (`2026-01-31T08:00:00Z`), or a template that gives one. */
  until: z.string().min(1).optional(),
  ...Common,
});
export type SleepStep = z.infer<typeof SleepStep>;

/** Waits until runs that were started without waiting have ended. The result is a list, in the order of the handles. */
export const JoinStep = z.strictObject({
  type: z.literal('join'),
  /** A handle, what a step that started a run returned, or a list of these. */
  handles: Value,
  ...Common,
});
export type JoinStep = z.infer<typeof JoinStep>;

/** `always` runs after either branch, also when one of them failed or the run is being cancelled. */
export const ConditionStep = z.strictObject({
  type: z.literal('condition'),
  check: Expression,
  get then(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  get else(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  get always(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  name: Common.name,
  onError: Common.onError,
  retry: Common.retry,
  timeoutMs: Common.timeoutMs,
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

/**
 * Either `branches`: each is a sequence of steps of its own, and all start at once. Or `over`: `steps` once for each item
 * of a list, bound to `as`, several at once.
 */
export const ParallelStep = z.strictObject({
  type: z.literal('parallel'),
  get branches(): z.ZodOptional<z.ZodArray<z.ZodArray<typeof Step>>> {
    return z.array(z.array(Step)).optional();
  },
  failFast: z.boolean().optional(),
  /** The array, as an expression. */
  over: Expression.optional(),
  as: Name.optional(),
  get steps(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  itemErrors: z.enum(['fail', 'collect']).optional(),
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
  ApprovalStep,
  FailStep,
  SetStep,
  SleepStep,
  JoinStep,
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
  /** Clean-up: runs once at the end of the run, however it ends. */
  get always(): z.ZodOptional<z.ZodArray<typeof Step>> {
    return z.array(Step).optional();
  },
  loop: LoopConfig,
  trigger: Trigger.optional(),
  concurrency: Concurrency.optional(),
  timeoutMs: Milliseconds.optional(),
  safety: Safety.optional(),
  mode: z.enum(['full', 'readonly', 'sandboxed']).optional(),
  durability: Durability.optional(),
  escalateOn: z.array(EscalationRule).optional(),
  reportTo: z.enum(['inbox', 'silent']).optional(),
  /** Names of environment variables that `{{env.X}}` may read. */
  env: z.array(z.string().min(1)).optional(),
  strict: z.boolean().optional(),
  /** What its models draft and its steps run may do whatever the run may (docs/safety.md). */
  trustDrafts: z.boolean().optional(),
  /** Reaches the definitions that are written inside this one, and no other. */
  defaults: Defaults.optional(),
  inputs: z.record(z.string(), Value).optional(),
  /** A JSON Schema of what a run is given, in place of `inputs`. */
  inputSchema: z.record(z.string(), Value).optional(),
  /** What a run gives to whoever started it, in place of its variables: read as params are, at its end. */
  outputs: z.record(z.string(), Value).optional(),
});
export type Definition = z.infer<typeof Definition>;
