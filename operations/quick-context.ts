/** What a quick command works with beside who calls it, where, and over which session. */
import type { CommandContext } from './command.ts';

/** It is shorter than the notice would be. */
const neverInterrupted = new AbortController().signal;

const noTurn = (): Promise<never> => Promise.reject(new Error('bug: a quick command asks a model'));
const now = (): number => Date.now();
const noWord = (): void => undefined;

/** What is copied comes last: V8 takes microseconds for each field that is added to a copy. */
export const quickContext = (
  of: Pick<CommandContext, 'run' | 'key' | 'store' | 'session' | 'runPort' | 'timeoutMs'> & Partial<CommandContext>,
): CommandContext => ({
  attempt: 1,
  signal: neverInterrupted,
  turn: noTurn,
  now,
  heartbeat: noWord,
  ...of,
});
