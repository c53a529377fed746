/** What a segment of a scripted run is asked, the journal in memory that it commits to, and one attempt at its steps. */
import { SEGMENT_EVENTS_MAX, type SegmentRequest } from '../../../interpreter/contract.ts';
import { segmentStepsMax } from '../../../language/limits.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { QuickSteps } from '../../../activities/segment/quick-steps.ts';
import { type Json, throughJson } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import type { OpenSession, Session, Store } from '../../../prisma/store/contract/contract.ts';
import { JournalConflict } from '../../../prisma/store/contract/journal-conflict.ts';
import { portionOf, type RunInput } from '../../../interpreter/host.ts';
import type { Effect, Reply } from '../../../interpreter/effect.ts';
import { editedStrand } from '../../../interpreter/edited-paths.ts';
import { turnsGranted } from '../../../interpreter/limits.ts';
import { heldMs } from '../../../interpreter/walk-state.ts';
import { replyTo, type Answers } from '../../../interpreter/simulation/script.ts';
import type { SegmentAsked } from '../../../interpreter/simulation/scripted-host.ts';

export function requestOf({ host, strand, key, stepsLeft, budget }: SegmentAsked): SegmentRequest {
  const { position } = host.walk;
  // A step that is repeated because a limit was extended begins a second segment under a key of its own.
  const extended = turnsGranted(position);
  const request: SegmentRequest = {
    strand: portionOf(strand),
    key: extended === 0 ? key : `${key} ${extended}`,
    seq: position.seq,
    places: 1,
    stepsMax: stepsLeft ?? segmentStepsMax,
    tally: strand.path === '' ? position.tally : null,
    pausedMs: heldMs(host.walk),
    extensions: position.extensions,
    ...defined({ budget }),
    ...editedStrand(host.walk, strand),
    forget: [],
  };
  position.seq += SEGMENT_EVENTS_MAX;
  return throughJson(request);
}

type Answer = ReturnType<Answers['find']>;

export interface Attempt {
  quick: QuickSteps;
  effects: { key: string; effect: Effect }[];
  answers: [string, Answer][];
  clock: number;
}

/** `setClock`: what the code of a segment is to take for the present. */
export function attemptOf(
  { world, host }: SegmentAsked,
  answer: (key: string, effect: Effect) => Answer,
  setClock: (now: number) => void,
): Attempt {
  setClock(world.simulation.now);
  const attempt: Attempt = { quick: { perform: answerStep }, effects: [], answers: [], clock: world.simulation.now };
  function answerStep(_input: RunInput, _session: Session, effect: Effect): Promise<Reply> {
    const key = host.keyOf(effect.key);
    const scripted = answer(key, effect);
    attempt.effects.push({ key, effect });
    attempt.answers.push([key, scripted]);
    attempt.clock += scripted?.tookMs ?? 1;
    setClock(attempt.clock);
    if (scripted?.ok === false) {
      const { code = 'SCRIPTED', message = 'it failed', retryable = false } = scripted.failure ?? {};
      return Promise.reject(new Failure(code, message, { retryable }));
    }
    // Published once: the second attempt finds the same id.
    if (effect.type === 'emit') world.board.publish(key, effect.event, effect.data, attempt.clock);
    return Promise.resolve(replyTo(effect, scripted));
  }
  return attempt;
}

/** What happens around a commit. */
export interface AroundCommit {
  before(): void;
  after(): void;
}

/** The two parts of a store that a segment uses. Rows are kept as long as the run, longer than a store keeps them. */
export function journalIn(rows: Map<string, Json>, events: RunEvent[], around?: AroundCommit): Store {
  const session: Partial<OpenSession> = {
    commit: (entry) => {
      if (rows.has(entry.key)) return Promise.reject(new JournalConflict(entry.handle, entry.key));
      around?.before();
      rows.set(entry.key, throughJson(entry.result));
      events.push(...throughJson(entry.events));
      around?.after();
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const journal = { find: (_handle: string, key: string) => Promise.resolve(rows.get(key) ?? null) };
  return { journal, session: () => session } as unknown as Store;
}
