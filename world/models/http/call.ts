/** One call of an SDK under a guard: whatever the SDK makes of what went wrong, the guard's finding stands. */
import { TurnError } from '../port/turn-failure.ts';
import { Guard, type GuardParts } from './guard.ts';
import { excerpt, type Refusal } from './refusal.ts';

export interface CallParts extends GuardParts {
  /** What a refusal of this server means. */
  explain: (refusal: Refusal) => TurnError;
  /** What an error means that its SDK found in the stream; null where it means nothing to the provider. */
  explainError: (error: Error) => TurnError | null;
}

export async function guardedCall<Result>(parts: CallParts, call: (guard: Guard) => Promise<Result>): Promise<Result> {
  const guard = new Guard(parts);
  try {
    return await call(guard);
  } catch (error) {
    if (parts.signal.aborted) throw parts.signal.reason;
    if (error instanceof TurnError) throw error;
    if (guard.finding !== null) throw guard.finding;
    if (guard.refusal !== null) throw parts.explain(guard.refusal);
    if (!(error instanceof Error)) throw error;
    if (error instanceof SyntaxError)
      throw new TurnError({ kind: 'malformed-answer' }, `${parts.name} sent broken JSON: ${error.message}`, {
        cause: error,
      });
    const explained = parts.explainError(error);
    if (explained !== null || !guard.isAnswered) throw explained ?? error;
    throw unreadable(parts.name, error);
  } finally {
    guard.close();
  }
}

/** What came cannot be read, in a way that nobody foresaw. */
export const unreadable = (name: string, error: Error): TurnError =>
  new TurnError(
    { kind: 'malformed-answer' },
    `${name} sent an answer that cannot be read (${excerpt(error.message)}); try again, or choose another model`,
    { cause: error },
  );

/** A stream that ended, and not as streams of this provider end. */
export const truncated = (name: string): TurnError =>
  new TurnError({ kind: 'truncated-stream' }, `${name} ended its answer in the middle; nothing of it is used`);

/** What the server said in an error of its SDK's making; undefined for any other error. */
export const saidIn = (error: Error): unknown =>
  'status' in error && 'requestID' in error && 'error' in error ? (error.error ?? null) : undefined;

/** SDKs log what they cannot read, with the text: nothing of ours may. */
const silent = (): void => undefined;
export const silentLogger = { debug: silent, info: silent, warn: silent, error: silent };
