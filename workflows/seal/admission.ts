/**
 * Whether a message that came to a run is one of ours: sealed for this run, for this handler, and not taken
 * before. Whoever reaches Temporal without the key can send a copy of what was sealed for the run earlier,
 * so the run remembers what it has taken.
 *
 * It remembers the latest messages. Of those that are forgotten the newest tells the time up to which
 * nothing is taken any more.
 */
import { ApplicationFailure, log } from '@temporalio/workflow';
import type { Walk } from '../../interpreter/walk-state.ts';
import { isSentMessage, type SentMessage } from '../messages/sent-message.ts';
import { NOT_SEALED, unsealedFinding } from '../messages/unsealed.ts';

const takenKeptMax = 500;

export class Admission {
  private readonly walk: Walk;

  constructor(walk: Walk) {
    this.walk = walk;
  }

  /** The arguments of a message to `name` that does no harm when it comes twice; throws to refuse it. */
  read(name: string, received: readonly unknown[]): readonly unknown[] {
    return this.message(name, received).args;
  }

  /** Those of one that is to be taken once. */
  look(name: string, received: readonly unknown[]): readonly unknown[] {
    return this.untaken(name, received).args;
  }

  take(name: string, received: readonly unknown[]): readonly unknown[] {
    const message = this.untaken(name, received);
    this.remember(message);
    return message.args;
  }

  /** Null for a signal that is not one of ours: it is dropped, because nobody waits for what becomes of it. */
  takeSignal(name: string, received: readonly unknown[]): readonly unknown[] | null {
    return orNull(() => this.take(name, received));
  }

  readSignal(name: string, received: readonly unknown[]): readonly unknown[] | null {
    return orNull(() => this.read(name, received));
  }

  private untaken(name: string, received: readonly unknown[]): SentMessage {
    const message = this.message(name, received);
    if (this.isTaken(message)) throw this.refusal(name, 'taken');
    return message;
  }

  private message(name: string, received: readonly unknown[]): SentMessage {
    const [message] = received;
    const finding = unsealedFinding(message);
    if (finding !== null) throw this.refusal(name, finding);
    if (received.length !== 1 || !isSentMessage(message) || message.to !== name) throw this.refusal(name, 'not-sealed');
    return message;
  }

  private refusal(name: string, finding: keyof typeof findings): ApplicationFailure {
    const { handle } = this.walk.input;
    return ApplicationFailure.nonRetryable(`"${name}" for ${handle} is not taken: ${findings[finding]}`, NOT_SEALED);
  }

  private isTaken({ id, at }: SentMessage): boolean {
    const { taken } = this.walk.position;
    return taken !== undefined && (at <= taken.until || taken.latest.some((one) => one.id === id));
  }

  private remember({ id, at }: SentMessage): void {
    const { position } = this.walk;
    const { until = 0, latest = [] } = position.taken ?? {};
    const all = [...latest, { id, at }].toSorted((a, b) => a.at - b.at);
    const forgotten = all.slice(0, Math.max(0, all.length - takenKeptMax));
    position.taken = { until: forgotten.at(-1)?.at ?? until, latest: all.slice(forgotten.length) };
  }
}

function orNull<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}

const findings = {
  'not-sealed': 'it was not sealed for this run with a key of this installation',
  'unknown-key': 'it was sealed with a key that this worker does not have (SENTINEL_KEY)',
  taken: 'it was sent before, or is older than the messages that the run remembers; send it anew',
} as const;
