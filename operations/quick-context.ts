/** What a quick command works with beside who calls it, where, and over which session. */
import type { CommandContext } from './command.ts';

/** It is shorter than the notice would be. */
const neverInterrupted = new AbortController().signal;

export const quickContext = (
  of: Pick<CommandContext, 'run' | 'key' | 'store' | 'session' | 'runPort' | 'timeoutMs'> & Partial<CommandContext>,
): CommandContext => ({
  attempt: 1,
  signal: neverInterrupted,
  turn: () => Promise.reject(new Error('bug: a quick command asks a model')),
  now: () => Date.now(),
  heartbeat: () => undefined,
  ...of,
});
