/**
 * The steps of a segment that act on the world. Each is claimed by a commit before it begins. One that has not ended when
 * the segment has lasted its time, or a while after it began where that is later, goes on without it.
 */
import { SEGMENT_MS } from '../../interpreter/contract.ts';
import type { GoesOn, Reply, ShellEffect } from '../../interpreter/effect.ts';
import { isCancelled, type RunInput, type Strand } from '../../interpreter/host.ts';
import type { Json } from '../../language/json.ts';
import { type RowSink, WaitingRows } from '../../prisma/store/contract/session-contract.ts';
import type { LogChunk, Session } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { type AttemptNow, LeftBehind } from '../../world/processes/overtaken.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import type { KeepEnd } from '../steps/checkpointed.ts';
import { lastingFailure } from '../steps/failures.ts';

/** What is begun late in a segment is waited for so long, too. */
const ACT_MS = 200;
/** Processes that one segment begins side by side; the others wait for their turn, or are left unbegun. */
const AT_ONCE_MAX = 8;

/** One step while it is under way here. */
export interface Act {
  /** Aborted when it is to end, or to be left. */
  signal: AbortSignal;
  /** Throws `LeftBehind` where another attempt at the segment may have begun. */
  checkAttempt: () => void;
  /** Whether what was aborted is to end with it. */
  ends(): boolean;
  /** Takes what it printed, to be written with the next commit. */
  log(chunks: readonly LogChunk[]): void;
}

export interface ActingSteps {
  /** Whether what it starts would outlive this worker. */
  canBegin(effect: ShellEffect): Promise<boolean>;
  /** Counts it among what its persona may do in a day; false where that is spent. */
  mayBegin(input: RunInput, effect: ShellEffect): Promise<boolean>;
  /** Keeps the state of the project before it; `rows` go out with the next commit. Null where none is kept. */
  keepState(input: RunInput, effect: ShellEffect, rows: RowSink): Promise<KeepEnd | null>;
  /** Rejects with `LeftBehind` where what it started goes on. */
  perform(input: RunInput, effect: ShellEffect, act: Act): Promise<Json>;
  /** Has the log of a step written with the session's commit; called back once it is, it tells those who follow it. */
  write(session: Session, chunks: readonly LogChunk[]): () => void;
  /** The result of the step is committed. */
  forget(handle: string, key: string): void;
}

/** What of the steps is a part of a commit. */
interface Settled {
  /** What those came to that ended since the commit before. */
  replies?: { [key: string]: Reply };
  /** To be called once it is made. */
  committed(): void;
}

/** `attempt`, from 1, of the segment; `now`: absent where there is no other; `signal`: nobody waits for it any more. */
export interface Attempt {
  attempt: number;
  now?: AttemptNow;
  signal?: AbortSignal;
}

const never = new AbortController().signal;

interface UnderWay {
  strand: Strand;
  told: AbortController;
  isCancelled: boolean;
}

export class Acts {
  readonly #steps: ActingSteps;
  readonly #input: RunInput;
  readonly #claim: () => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #now: AttemptNow | undefined;
  #hasBegun = false;
  readonly #until = Date.now() + SEGMENT_MS;
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();
  /** Of those that ended since the commit before. */
  #replies: { [key: string]: Reply } = {};
  #chunks: LogChunk[] = [];
  readonly #rows = new WaitingRows();

  /** `claim`: commits all there is. */
  constructor(steps: ActingSteps, input: RunInput, claim: () => Promise<void>, { now, signal = never }: Attempt) {
    this.#steps = steps;
    this.#input = input;
    this.#claim = claim;
    this.#now = now;
    this.#signal = signal;
    signal.addEventListener('abort', () => void this.leave(), { once: true });
  }

  async perform(strand: Strand, effect: ShellEffect): Promise<Reply | GoesOn> {
    const unbegun: GoesOn = { goesOn: true, isBegun: false };
    if (!(await this.#steps.canBegin(effect))) return unbegun;
    while (this.#underWay.size >= AT_ONCE_MAX) await Promise.race(this.#underWay.values());
    if (this.#isOver()) return unbegun;
    const act: UnderWay = { strand, told: new AbortController(), isCancelled: isCancelled(strand) };
    if (act.isCancelled) act.told.abort();
    const pending = this.#claimed(effect, act);
    this.#underWay.set(
      act,
      pending.catch(() => undefined),
    );
    try {
      return await pending;
    } finally {
      this.#underWay.delete(act);
    }
  }

  /** Nothing more is begun. */
  #isOver(): boolean {
    return this.#signal.aborted || (this.#hasBegun && Date.now() > this.#until);
  }

  async #claimed(effect: ShellEffect, act: UnderWay): Promise<Reply | GoesOn> {
    const { handle } = this.#input;
    const { key } = effect;
    // It has its place by now: others that wait for one begin behind it.
    if (effect.begun === undefined && !(await this.#steps.mayBegin(this.#input, effect)))
      return { goesOn: true, isBegun: false };
    this.#hasBegun = true;
    const keepEnd = await this.#steps.keepState(this.#input, effect, this.#rows);
    this.#now?.sign();
    await this.#claim();
    crashPoint('act.claimed', { handle, key });
    this.#now?.check();
    // Nobody waits for it here any more, and nothing of it has begun.
    if (this.#signal.aborted && !act.isCancelled) return { goesOn: true, isBegun: false };
    const timer = setTimeout(() => act.told.abort(), Math.max(ACT_MS, this.#until - Date.now()));
    const ended = async (reply: Reply): Promise<Reply> => {
      crashPoint('act.performed', { handle, key });
      await keepEnd?.(this.#rows);
      this.#replies[key] = reply;
      return reply;
    };
    try {
      const value = await this.#steps.perform(this.#input, effect, {
        signal: act.told.signal,
        checkAttempt: () => this.#now?.check(),
        ends: () => act.isCancelled,
        log: (chunks) => void this.#chunks.push(...chunks),
      });
      return await ended({ ok: true, value });
    } catch (error) {
      if (error instanceof LeftBehind) {
        crashPoint('act.left', { handle, key });
        return { goesOn: true, isBegun: true };
      }
      if (act.isCancelled) return await ended({ ok: false, cancelled: true });
      const failure = error instanceof Failure ? error : lastingFailure(error, `${handle} ${key}`);
      if (failure === null) throw error;
      return await ended({ ok: false, failure: failure.toInfo() });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lines were cancelled: what they have begun ends. */
  cancelLines(): void {
    for (const act of this.#underWay.keys()) {
      if (act.isCancelled || !isCancelled(act.strand)) continue;
      act.isCancelled = true;
      act.told.abort();
    }
  }

  /** What has ended and was printed by now is a part of the session's commit; called back once that is made. */
  settle(session: Session): Settled {
    const [replies, chunks] = [this.#replies, this.#chunks];
    this.#replies = {};
    this.#chunks = [];
    for (const row of this.#rows.all.splice(0)) session.later(...row);
    const tell = this.#steps.write(session, chunks);
    const keys = Object.keys(replies);
    return {
      ...(keys.length === 0 ? {} : { replies }),
      committed: () => {
        tell();
        for (const key of keys) this.#steps.forget(this.#input.handle, key);
      },
    };
  }

  /** What is under way goes on. */
  async leave(): Promise<void> {
    for (const act of this.#underWay.keys()) act.told.abort();
    await Promise.allSettled(this.#underWay.values());
  }
}
