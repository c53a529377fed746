/** One turn of a local model, or one list of texts to embed, as its host waits for it: what it hears, and when it gives up. */
import { TurnError } from '../port/turn-failure.ts';
import type { TurnLimits } from '../port/turn.ts';
import type { Asked, FromModel } from './protocol.ts';

export interface TurnParts {
  asked: Asked;
  signal: AbortSignal;
  limits: TurnLimits;
  hear(message: FromModel): void;
}

export type Done = Extract<FromModel, { type: 'done' }>;
type Phase = 'headers' | 'idle' | 'wall';

export class HostedTurn {
  readonly ended: Promise<Done>;
  readonly #parts: TurnParts;
  readonly #wall: NodeJS.Timeout;
  /** Tells the process that nobody waits any more. */
  readonly #stop: () => void;
  #silence: NodeJS.Timeout;
  #resolve: (done: Done) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(parts: TurnParts, stop: () => void) {
    this.#parts = parts;
    this.#stop = stop;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#silence = this.#timer('headers');
    this.#wall = this.#timer('wall');
    parts.signal.addEventListener('abort', this.#cancel, { once: true });
  }

  readonly #cancel = (): void => this.#giveUp(this.#parts.signal.reason);

  hear(message: FromModel): void {
    if (message.type === 'done') {
      this.#settle();
      this.#resolve(message);
      return;
    }
    if (message.type === 'failed') {
      this.fail(new TurnError(message.finding, message.message));
      return;
    }
    clearTimeout(this.#silence);
    this.#silence = this.#timer('idle');
    try {
      this.#parts.hear(message);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  fail(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  #timer(phase: Phase): NodeJS.Timeout {
    const { headersMs, idleMs, wallMs } = this.#parts.limits;
    const afterMs = { headers: headersMs, idle: idleMs, wall: wallMs }[phase];
    const what = { headers: 'did not begin to answer', idle: 'stopped answering', wall: 'did not end its answer' }[
      phase
    ];
    return setTimeout(
      () =>
        this.#giveUp(
          new TurnError({ kind: 'timeout', phase, afterMs }, `the local model ${what} within ${afterMs} ms`),
        ),
      afterMs,
    );
  }

  #giveUp(error: unknown): void {
    this.#stop();
    this.fail(error);
  }

  #settle(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#wall);
    this.#parts.signal.removeEventListener('abort', this.#cancel);
  }
}
