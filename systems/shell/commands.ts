/**
 * Processes as commands: `code/shell/execute` runs one as a shell step does, or, with `wait: false`,
 * starts it and goes on; `code/shell/sentinel` gives a started process its rules; `code/shell/watch`
 * waits for it.
 */
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { watchTimeoutMs } from '../../language/limits.ts';
import { Rule, Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import type { Started } from '../../operations/shell/background.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { classifierOf, emitLines } from '../../operations/shell/output/classification.ts';
import { runShell, type ShellResult } from '../../operations/shell/run-shell.ts';
import { ownExecution, watchExecution, type WatchResult } from '../../operations/shell/watch.ts';
import { type Command, type CommandContext, type Context, defineCommand } from '../../operations/command.ts';

/** Numbers and booleans come from references; a process takes text. */
const Scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const Params = z.strictObject({
  command: z.string().min(1),
  args: z.array(Scalar).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), Scalar).optional(),
  stdin: Value.optional(),
  timeoutMs: z.number().int().positive().optional(),
  wait: z.boolean().optional(),
  /** With `wait: false`. A number: the process is to serve that port. True: wait until it serves one, and say which. */
  port: z.union([z.boolean(), z.coerce.number().int().min(1).max(65_535)]).optional(),
});

const Ended: z.ZodType<ShellResult> = z.strictObject({
  exitCode: z.number(),
  exit_code: z.number(),
  signal: z.string().exactOptional(),
  stdout: z.string(),
  stderr: z.string(),
  output: z.string(),
  durationMs: z.number(),
  success: z.boolean(),
  truncated: z.boolean().exactOptional(),
  logIncomplete: z.boolean().exactOptional(),
});

const BackgroundResult: z.ZodType<Started> = z.strictObject({
  executionId: z.string(),
  pid: z.number().exactOptional(),
  port: z.number().exactOptional(),
});

type Execute = z.infer<typeof Params>;

function execute(params: Execute, context: Context): Promise<ShellResult | Started> {
  const { command, args, cwd, env, stdin, timeoutMs, wait } = params;
  const request = {
    command,
    ...defined({ args, cwd, env }),
    ...(stdin === undefined ? {} : { stdin: typeof stdin === 'string' ? stdin : JSON.stringify(stdin) }),
  };
  if (wait === false) return startInBackground(params, request, context);
  const withinMs = Math.min(timeoutMs ?? context.timeoutMs, context.timeoutMs);
  return runShell({ ...request, timeoutMs: withinMs, isKept: true }, context);
}

/** A stated port is told to the process as PORT; one that is asked for is waited for, within bounds. */
async function startInBackground(
  { port, timeoutMs }: Execute,
  request: { command: string; env?: Record<string, string> },
  context: Context,
): Promise<Started> {
  const stated = typeof port === 'number' ? { env: { PORT: String(port), ...request.env } } : {};
  const { started, process } = await context.worker.background.start({ ...request, ...stated }, context);
  if (typeof port === 'number') return { ...started, port };
  if (port !== true || process === null) return started;
  const withinMs = Math.min(timeoutMs ?? SHELL_BOUNDS.portWaitMs, context.timeoutMs);
  const served = await process.servedPort(withinMs, context.signal);
  return served === null ? started : { ...started, port: served };
}

const Rules = z.array(Rule).max(1_000);
const SentinelParams = z.strictObject({ executionId: z.string().min(1), rules: Rules });

/** The rules hold for all lines, printed before or after; what they publish of the earlier ones is published now. */
async function installRules(
  { executionId, rules }: z.infer<typeof SentinelParams>,
  context: CommandContext,
): Promise<Json> {
  const { store } = context;
  const classifier = classifierOf(rules);
  const execution = await ownExecution(store, executionId, context.run);
  await store.executions.setRules(executionId, rules);
  if (classifier.emits) await emitLines(store, execution, classifier, await store.executions.lines(executionId, 0));
  return { executionId, rules: rules.length };
}

const Line = z.strictObject({
  line: z.string(),
  n: z.number(),
  stream: z.enum(['stdout', 'stderr']),
  classification: z.string(),
  rule: z.string().exactOptional(),
  at: z.number(),
});
const Until = z.enum(['finished', 'error', 'match']);

const WatchParams = z.strictObject({
  executionId: z.string().min(1),
  rules: Rules.optional(),
  until: Until.optional(),
  timeoutMs: z.number().int().positive().optional(),
});

const Watched: z.ZodType<WatchResult> = z.strictObject({
  executionId: z.string(),
  reason: Until,
  lines: z.array(Line),
  length: z.number(),
  matches: z.array(Line),
  exitCode: z.number().nullable(),
  success: z.boolean(),
  signal: z.string().exactOptional(),
  failure: z
    .strictObject({ code: z.string(), message: z.string(), details: z.record(z.string(), Value).exactOptional() })
    .exactOptional(),
  dropped: z.number().exactOptional(),
});

function watch(
  { executionId, rules, until, timeoutMs }: z.infer<typeof WatchParams>,
  context: CommandContext,
): Promise<WatchResult> {
  const request = { executionId, ...defined({ rules, until }) };
  return watchExecution(request, {
    ...context,
    timeoutMs: Math.min(timeoutMs ?? context.timeoutMs, context.timeoutMs),
  });
}

const isBackground = ({ wait }: JsonObject): boolean => wait === false;

export const shellCommands: Command[] = [
  defineCommand({
    name: 'code/shell/execute',
    word: 'spawn',
    description: 'Runs a command line in the project, or a program with args, and returns its output and exit code.',
    permission: 'shell',
    speed: 'long',
    // What is kept of a process in the background, so that any worker can start it, is unsealed where it starts.
    secrets: (params) => (isBackground(params) ? 'sealed' : 'values'),
    isBackground,
    keepsProcess: (params) => !isBackground(params),
    textField: 'stdout',
    takesShellLine: true,
    params: Params,
    result: z.union([Ended, BackgroundResult]),
    run: execute,
  }),
  defineCommand({
    name: 'code/shell/sentinel',
    description: 'Sets the rules by which the lines of a process in the background are told apart.',
    permission: 'read',
    speed: 'long',
    params: SentinelParams,
    result: z.strictObject({ executionId: z.string(), rules: z.number() }),
    run: installRules,
  }),
  defineCommand({
    name: 'code/shell/watch',
    description: 'Waits for lines of a process in the background, or for its end.',
    permission: 'read',
    speed: 'long',
    timeoutMs: watchTimeoutMs,
    params: WatchParams,
    result: Watched,
    run: watch,
  }),
];
