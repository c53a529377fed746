/**
 * A segment: the interpreter walks one strand over quick steps and commits once.
 *
 * Effects in our store, the run's events and the segment's own result are one transaction, and the
 * result is journaled under the key of the step the segment began with. So:
 * - S1 a segment that dies before its commit has done nothing: its successor starts from the same
 *   position, and what was read may differ, but nothing had been decided upon it;
 * - S2 a segment that dies after its commit has no effect when it runs again: its commit meets the
 *   journal row, is undone, and the journaled result is returned;
 * - S3 of two attempts at once, one commits; the other meets the journal row and returns it;
 * - S4 its events are never in the store before those that the run recorded before it: whoever follows
 *   the run sees them in their order;
 * - S5 no step that writes outside the store runs in a segment (`speed: 'long'` in the catalogue).
 */
import { SEGMENT_EVENTS_MAX, type SegmentRequest, type SegmentResult } from '../../interpreter/contract.ts';
import type { Json } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { JournalConflict } from '../../prisma/store/contract/journal-conflict.ts';
import { drive } from '../../interpreter/drive.ts';
import type { RunInput } from '../../interpreter/host.ts';
import type { Position } from '../../interpreter/position.ts';
import type { Effect, Reply, Variables } from '../../interpreter/effect.ts';
import { lastingFailure } from '../steps/failures.ts';
import { walkStrand } from '../../interpreter/walk/walk.ts';
import { SegmentHost } from './segment-host.ts';
import { walkFrom } from './walk-from.ts';
import type { QuickSteps } from './quick-steps.ts';

const journalKey = (key: string): string => `segment ${key}`;

/** So often the places were all taken, or the store was away for long. */
const guardedAttemptsMax = 30;

export interface SegmentParts {
  store: Store;
  quick: QuickSteps;
  /** Resolves when what the run recorded before is in the store. */
  recorded: (handle: string) => Promise<void>;
}

/** `attempt`, from 1: each takes another place for its events, in case that another segment's have the one before. */
export async function runSegment(
  { store, quick, recorded }: SegmentParts,
  input: RunInput,
  asked: SegmentRequest,
  attempt: number,
): Promise<SegmentResult> {
  const { places } = asked;
  const before = recorded(input.handle);
  // Waited for below; a segment that fails first has nothing to say of it.
  before.catch(() => undefined);
  const request = { ...asked, seq: asked.seq + ((attempt - 1) % places) * SEGMENT_EVENTS_MAX };
  const key = journalKey(request.key);
  const session = store.session();
  try {
    const startedAt = Date.now();
    const perform = (effect: Effect): Promise<Reply> =>
      quick.perform(input, session, effect).catch((error: unknown) => {
        throw lastingFailure(error, attempt) ?? error;
      });
    const host = new SegmentHost(request.stepsMax, input, perform);
    const { walk, strand } = walkFrom(input, request, host);
    const { position } = walk;
    const had = { ...strand.own };
    const flow = await drive(walkStrand(walk, strand), () => undefined);
    const result: SegmentResult = {
      flow,
      frame: strand.frame,
      set: changed(had, strand.own),
      tally: request.tally === null ? null : position.tally,
      steps: position.steps,
      ...skippedBy(request, position),
      ...defined({ spent: position.spent }),
      durationMs: Date.now() - startedAt,
    };
    if (host.events.length === 0) return (await journaled(store, input, key)) ?? result;
    const forget = request.forget.map(journalKey);
    // In the end it may write over another's events: better than not to go on.
    const numbers = {
      seq: request.seq,
      ...(attempt <= guardedAttemptsMax ? { place: request.seq } : {}),
    };
    const { handle } = input;
    await before;
    await session.commit({ handle, key, result: result as unknown as Json, events: host.events, forget, ...numbers });
    return result;
  } catch (error) {
    if (!(error instanceof JournalConflict)) throw error;
    const first = await journaled(store, input, key);
    if (first === null) throw error;
    return first;
  } finally {
    await session.close();
  }
}

async function journaled(store: Store, input: RunInput, key: string): Promise<SegmentResult | null> {
  return (await store.journal.find(input.handle, key)) as unknown as SegmentResult | null;
}

function skippedBy({ edited }: SegmentRequest, { skips = [] }: Position): { skipped?: string[] } {
  const skipped = (edited?.skips ?? []).filter((path) => !skips.includes(path));
  return skipped.length === 0 ? {} : { skipped };
}

/** Values are never changed in place, so a variable that was set again is another object. */
function changed(before: Variables, after: Variables): Variables {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
