/** A failure as a trace shows it: at the end of its step's line, and below that line the rest of its message. */
import type { StepFinished } from '../../language/events/run-event.ts';

interface FailureWords {
  line: string;
  below: readonly string[];
}

const EXITED = /^\S+: it ended with exit code -?\d+(?=: )/;

/**
 * Steps around the one that failed repeat its message, and show only the first line of it.
 * `isQuoted`: what the process printed is shown by the caller.
 */
export function failureWords(event: Pick<StepFinished, 'failure' | 'step'>, isQuoted = false): FailureWords | null {
  if (event.failure === undefined) return null;
  const { code, message } = event.failure;
  const [first = '', ...others] = message.split('\n');
  if (repeats(event)) return { line: `${code}: ${first}${others.length === 0 ? '' : ' …'}`, below: [] };
  const exited = code === 'SHELL_EXIT_NONZERO' ? EXITED.exec(message)?.[0] : undefined;
  if (exited === undefined || (others.length === 0 && !isQuoted)) return { line: `${code}: ${first}`, below: others };
  return { line: `${code}: ${exited}`, below: isQuoted ? [] : message.slice(exited.length + 2).split('\n') };
}

const repeats = ({ failure, step }: Pick<StepFinished, 'failure' | 'step'>): boolean =>
  step === 'loop' || step === 'parallel' || step === 'sentinel' || failure?.code === 'CHILD_FAILED';
