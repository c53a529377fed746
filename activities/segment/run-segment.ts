/**
 * A segment: the interpreter walks one strand over quick steps and shell steps.
 *
 * Effects in our store, the run's events and where the strand stands are one transaction, and it is journaled under the
 * key of the step the segment began with. So:
 * - S1 a segment that dies before a commit has done nothing in our store since the one before: its successor goes on
 *   from there, and what was read may differ, but nothing had been decided upon it;
 * - S2 a segment that dies after its last commit has no effect when it runs again: its commit meets the journal row, is
 *   undone, and the journaled result is returned;
 * - S3 of two attempts at once, one commits; the other meets the journal row and follows it;
 * - S4 its events are never in the store before those that the run recorded before it: whoever follows
 *   the run sees them in their order;
 * - S5 a step that acts on the world is claimed by a commit before it begins, and that commit has the results of all
 *   before it. Its process outlives the worker (world/processes/kept), and whoever goes on from the claim goes on with it;
 * - S6 one that does not end soon is left to an activity of its own, which goes on with the same process. So nothing
 *   that is said to the run waits for it.
 */
import { SEGMENT_EVENTS_MAX, type SegmentRequest, type SegmentResult } from '../../interpreter/contract.ts';
import { drive } from '../../interpreter/drive.ts';
import type { Effect, Flow, Reply, Variables } from '../../interpreter/effect.ts';
import type { RunInput, Strand } from '../../interpreter/host.ts';
import type { Walk } from '../../interpreter/walk-state.ts';
import { walkStrand } from '../../interpreter/walk/walk.ts';
import { defined } from '../../language/defined.ts';
import type { Json } from '../../language/json.ts';
import type { OpenSession, Store } from '../../prisma/store/contract/contract.ts';
import { WaitingRows } from '../../prisma/store/contract/session-contract.ts';
import { JournalConflict } from '../../prisma/store/contract/journal-conflict.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';
import { lastingFailure } from '../steps/failures.ts';
import { type ActingSteps, Acts, type Attempt } from './acts.ts';
import { Commits } from './commits.ts';
import type { QuickSteps } from './quick-steps.ts';
import { SegmentHost } from './segment-host.ts';
import {
  isResult,
  laterRows,
  requestFrom,
  rowKey,
  type SegmentRow,
  type SegmentStanding,
  standingAfter,
} from '../../interpreter/segment-rows.ts';
import { walkFrom } from './walk-from.ts';

/** So often the places were all taken, or the store was away for long. */
const guardedAttemptsMax = 30;

export interface SegmentParts {
  store: Store;
  quick: QuickSteps;
  /** Absent: no step begins here that acts on the world. */
  acting?: ActingSteps;
  /** Resolves when what the run recorded before is in the store. */
  recorded: (handle: string) => Promise<void>;
}

/** Each attempt takes another place for its events, in case that another segment's have the one before. */
export async function runSegment(
  parts: SegmentParts,
  input: RunInput,
  asked: SegmentRequest,
  attempt: Attempt,
): Promise<SegmentResult> {
  const place = asked.seq + ((attempt.attempt - 1) % asked.places) * SEGMENT_EVENTS_MAX;
  const request = { ...asked, seq: place };
  const at = { handle: input.handle, key: request.key };
  crashPoint('segment.begun', at);
  for (let before: SegmentStanding | null = null; ;) {
    const segment: Segment = new Segment(parts, input, request, attempt, before);
    try {
      return await segment.run();
    } catch (error) {
      if (!(error instanceof JournalConflict)) throw error;
      const found = await journaled(parts.store, at);
      if (found === null) throw error;
      crashPoint('segment.taken-over', at);
      if (isResult(found)) return found;
      before = found;
    } finally {
      await segment.close();
    }
  }
}

async function journaled(
  { journal }: Pick<Store, 'journal'>,
  { handle, key }: { handle: string; key: string },
): Promise<SegmentResult | SegmentStanding | null> {
  const first = (await journal.find(handle, rowKey(key, 1))) as unknown as SegmentRow | SegmentResult | null;
  if (first === null || isResult(first)) return first;
  const later = (await journal.rows(handle, laterRows(key))) as unknown as (SegmentRow | SegmentResult)[];
  return later.find((row) => isResult(row)) ?? standingAfter([first, ...later] as SegmentRow[]);
}

/** One attempt, from where an earlier one stood. */
class Segment {
  readonly #parts: SegmentParts;
  readonly #input: RunInput;
  readonly #request: SegmentRequest;
  readonly #attempt: number;
  readonly #recorded: Promise<void>;
  readonly #host: SegmentHost;
  readonly #acts: Acts | undefined;
  readonly #commits: Commits;
  readonly #walk: Walk;
  readonly #strand: Strand;
  /** Of the segment, whichever attempt has set them. */
  readonly #had: Variables;
  readonly #startedAt = Date.now();
  /** Of quick steps: what they lock is locked by the commit alone. */
  readonly #rows = new WaitingRows();
  /** Variables by the commit before. */
  #committed: Variables;
  /** Commits of the segment so far. */
  #count: number;
  #result: SegmentResult | undefined;

  constructor(
    parts: SegmentParts,
    input: RunInput,
    request: SegmentRequest,
    attempt: Attempt,
    before: SegmentStanding | null,
  ) {
    this.#parts = parts;
    this.#input = input;
    this.#request = request;
    this.#attempt = attempt.attempt;
    this.#recorded = parts.recorded(input.handle);
    // Waited for before a commit; a segment that fails first has nothing to say of it.
    this.#recorded.catch(() => undefined);
    this.#count = before?.count ?? 0;
    this.#commits = new Commits(
      () => parts.store.session(),
      (session) => this.#write(session),
    );
    this.#acts =
      parts.acting === undefined ? undefined : new Acts(parts.acting, input, () => this.#commits.flush(), attempt);
    this.#host = new SegmentHost(request.stepsMax, input, (effect) => this.#perform(effect), this.#acts);
    const from = before === null ? request : requestFrom(request, before);
    const { walk, strand } = walkFrom(input, from, this.#host);
    if (before !== null) {
      walk.position.steps = before.steps;
      if (before.spent !== undefined) walk.position.spent = before.spent;
    }
    this.#walk = walk;
    this.#strand = strand;
    this.#had = { ...request.strand.own };
    this.#committed = { ...strand.own };
  }

  async run(): Promise<SegmentResult> {
    const flow = await drive(walkStrand(this.#walk, this.#strand), () => undefined);
    const result = this.#resultOf(flow);
    const at = { handle: this.#input.handle, key: this.#request.key };
    if (this.#count === 0 && this.#host.events.length === 0) {
      const found = await journaled(this.#parts.store, at);
      if (found !== null && isResult(found)) return found;
      if (found === null) return result;
      throw new JournalConflict(at.handle, at.key);
    }
    this.#result = result;
    await this.#commits.end();
    return result;
  }

  /** What has begun goes on, for whoever follows. */
  async close(): Promise<void> {
    await this.#acts?.leave();
    await this.#commits.close();
  }

  #perform(effect: Effect): Promise<Reply> {
    const { quick } = this.#parts;
    return this.#commits
      .quick((session) => quick.perform(this.#input, session, effect, this.#rows))
      .catch((error: unknown) => {
        throw lastingFailure(error, `${this.#input.handle} ${effect.key}`) ?? error;
      });
  }

  #resultOf(flow: Flow): SegmentResult {
    const { position } = this.#walk;
    return {
      flow,
      frame: this.#strand.frame,
      set: changed(this.#had, this.#strand.own),
      tally: this.#request.tally === null ? null : position.tally,
      steps: position.steps,
      ...this.#skipped(),
      ...defined({ spent: position.spent }),
      ...(this.#count === 0 ? {} : { commits: this.#count + 1 }),
      durationMs: Date.now() - this.#startedAt,
    };
  }

  #standing(): SegmentRow {
    const { position } = this.#walk;
    const { own, frame } = this.#strand;
    const set = changed(this.#committed, own);
    this.#committed = { ...own };
    return {
      frame,
      set,
      tally: this.#request.tally === null ? null : position.tally,
      steps: position.steps,
      ...this.#skipped(),
      ...defined({ spent: position.spent }),
      seq: position.seq,
    };
  }

  #skipped(): { skipped?: string[] } {
    const { skips = [] } = this.#walk.position;
    const skipped = (this.#request.edited?.skips ?? []).filter((path) => !skips.includes(path));
    return skipped.length === 0 ? {} : { skipped };
  }

  /** All is taken at once, before anything is waited for. */
  async #write(session: OpenSession): Promise<void> {
    const { handle } = this.#input;
    const { key, seq, forget } = this.#request;
    const at = { handle, key };
    const settled = this.#acts?.settle(session);
    for (const row of this.#rows.all.splice(0)) session.later(...row);
    const row = { ...(this.#result ?? this.#standing()), ...defined({ replies: settled?.replies }) };
    this.#count += 1;
    const count = this.#count;
    const entry = {
      handle,
      key: rowKey(key, count),
      result: structuredClone(row) as unknown as Json,
      // A run may be forked from there: where it stood before what acted on the world, or right behind it.
      lasts: this.#result === undefined || settled?.replies !== undefined,
      events: this.#host.takeEvents(),
    };
    try {
      await this.#recorded;
      crashPoint('segment.walked', at);
      // Its place is told once; in the end it may write over another's events: better than not to go on.
      const isGuarded = this.#attempt <= guardedAttemptsMax;
      const first = { forget: forget.map((each) => rowKey(each, 1)), seq, ...(isGuarded ? { place: seq } : {}) };
      await session.commit({ ...entry, ...(count === 1 ? first : {}) });
      crashPoint('segment.committed', at);
    } finally {
      await session.close();
    }
    settled?.committed();
  }
}

/** Values are never changed in place, so a variable that was set again is another object. */
function changed(before: Variables, after: Variables): Variables {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
