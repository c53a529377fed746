/**
 * A program of the project that says whether an answer is right: it reads a row as JSON on its stdin and exits with 0. What a
 * model has written may be what it runs, so it sees the project alone and no network, unless the step says otherwise.
 */
import * as z from 'zod';
import type { Context } from '../../../operations/command.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { lineOf, type MadeRow } from './rows.ts';

/** Of the row, not of the program: it ran on, or took more memory than it may. */
const OF_THE_ROW = new Set(['STEP_TIMEOUT', 'MEMORY_LIMIT']);

export const Execution = z.strictObject({
  command: z
    .string()
    .min(1)
    .describe('a line for a shell: gets the row as JSON on its stdin, exits with 0 if it is right'),
  timeoutMs: z.number().int().positive().max(600_000).default(10_000).describe('for one row'),
  sandboxed: z.boolean().default(true).describe('false: it sees what a shell step sees'),
});
export type Execution = z.infer<typeof Execution>;

export async function isRight(
  row: MadeRow,
  { command, timeoutMs, sandboxed }: Execution,
  context: Context,
): Promise<boolean> {
  const { confinement } = context;
  const held = sandboxed ? { confinement: { ...confinement, mode: 'sandboxed' as const } } : {};
  const request = { command, stdin: `${JSON.stringify(lineOf(row, undefined))}\n`, timeoutMs, isLogged: false };
  try {
    const { success } = await runShell(request, { ...context, ...held });
    return success;
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof Failure && OF_THE_ROW.has(error.code)) return false;
    throw error;
  }
}
