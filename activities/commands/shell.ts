/** `code/shell/execute`: the shell step as a command, through the same `runShell`. */
import { z } from 'zod';
import { Value } from '../../language/model.ts';
import { Failure } from '../failures.ts';
import { runShell, type ShellRequest, type ShellResult } from '../shell/run-shell.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';

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
});

const Result: z.ZodType<ShellResult> = z.strictObject({
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

function execute(params: z.infer<typeof Params>, context: CommandContext): Promise<ShellResult> {
  const { command, args, cwd, env, stdin, timeoutMs, wait } = params;
  if (wait === false) {
    throw new Failure('NOT_AVAILABLE', `step ${context.key}: code/shell/execute cannot run in the background ("wait": false) yet; leave "wait" out or start the process with a shell step`);
  }
  const request: ShellRequest = {
    command,
    timeoutMs: Math.min(timeoutMs ?? context.timeoutMs, context.timeoutMs),
    ...(args === undefined ? {} : { args }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(stdin === undefined ? {} : { stdin: typeof stdin === 'string' ? stdin : JSON.stringify(stdin) }),
  };
  return runShell(request, context);
}

export const shellCommands: Command[] = [
  defineCommand({ name: 'code/shell/execute', params: Params, result: Result, run: async (params, context) => execute(params, context) }),
];
