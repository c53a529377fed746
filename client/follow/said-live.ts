/**
 * What models say in a run while they do, between the run's events. What a turn said stands before its calls
 * and before the end of its step: for a run that is under way as it comes, and for what is past in the order
 * in which it came to be. What an attempt had said that was given up is left out once the next one begins.
 */
import type { RunEvent } from '../../language/events/run-event.ts';
import type { LogPiece, Store } from '../../prisma/store/contract/contract.ts';

type Reader = ReturnType<Store['logs']['reader']>;

const TURN = /^(.*)\/turn\.(\d+)(?:#\d+)?(?:\/.*)?$/;

interface TurnPlace {
  conversation: string;
  turn: number;
}

function turnOf(key: string): TurnPlace | null {
  const [, conversation = '', turn = ''] = TURN.exec(key) ?? [];
  return conversation === '' ? null : { conversation, turn: Number(turn) };
}

export class SaidLive {
  readonly #store: Pick<Store, 'logs' | 'events'>;
  readonly #handle: string;
  readonly #deliver: (piece: LogPiece) => void;
  readonly #over = new AbortController();
  /** Model steps that have begun and not ended. */
  readonly #open = new Set<string>();
  readonly #attempts = new Map<string, number>();
  #held: LogPiece[] = [];
  #reader: Reader | undefined;
  /** Events up to this number had happened when the first model step was seen. */
  #past = 0;
  #seen = 0;
  #reading: Promise<void> = Promise.resolve();
  #looking: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, 'logs' | 'events'>, handle: string, deliver: (piece: LogPiece) => void) {
    this.#store = store;
    this.#handle = handle;
    this.#deliver = deliver;
  }

  /** Before an event is told: what models had said by then. */
  async before(event: RunEvent): Promise<void> {
    if (this.#open.size === 0) return;
    await this.#read();
    this.#release(event);
  }

  /** After it was told. */
  async after(event: RunEvent): Promise<void> {
    this.#seen = Math.max(this.#seen, event.seq);
    if (event.type === 'step-finished') this.#open.delete(event.key);
    if (event.type !== 'step-started' || event.step !== 'llm') return;
    this.#open.add(event.key);
    if (this.#reader !== undefined) return;
    // Where the store does not answer now, what is past is told as it is found.
    const newest = await this.#store.events
      .newest(this.#handle, ['step-started', 'step-finished', 'run-finished'])
      .catch(() => null);
    this.#past = newest?.seq ?? 0;
    this.#reader = this.#store.logs.reader(this.#handle, 'model');
    this.#looking = this.#look();
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { signal } = this.#over;
    const subscription = this.#store.logs.listen(this.#handle);
    try {
      while (!signal.aborted) {
        if (this.#open.size > 0) await this.#read();
        await subscription.next(signal);
      }
    } finally {
      subscription.close();
    }
  }

  /** One after the other; where the store does not answer, the next look finds it. */
  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNew()).catch(() => undefined);
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) return;
    do {
      for (const piece of await reader.read()) this.#take(piece);
    } while (reader.hasMore);
  }

  #take(piece: LogPiece): void {
    const latest = Math.max(this.#attempts.get(piece.key) ?? 0, piece.attempt);
    this.#attempts.set(piece.key, latest);
    if (piece.attempt < latest) return;
    this.#held = this.#held.filter((held) => held.key !== piece.key || held.attempt === latest);
    if (this.#seen >= this.#past) this.#deliver(piece);
    else this.#held.push(piece);
  }

  #release(event: RunEvent): void {
    const isPast = this.#seen >= this.#past || event.seq >= this.#past;
    const at = turnOf(event.key);
    const isDue = ({ key }: LogPiece): boolean => {
      const place = turnOf(key);
      if (isPast || event.type === 'run-finished' || place === null) return true;
      if (event.type === 'step-finished' && event.key === place.conversation) return true;
      return at !== null && at.conversation === place.conversation && place.turn <= at.turn;
    };
    const due = this.#held.filter(isDue);
    this.#held = this.#held.filter((piece) => !due.includes(piece));
    for (const piece of due) this.#deliver(piece);
  }
}
