/**
 * The real segment, over a journal in memory: the request and the report travel as JSON, and every
 * segment is asked for twice, as after a worker that died before its answer arrived.
 */
import { vi } from 'vitest';
import { SEGMENT_EVENTS_MAX, type SegmentRequest, type SegmentResult } from '../../../interpreter/contract.ts';
import { segmentStepsMax } from '../../../language/limits.ts';
import { Failure } from '../../../world/failures/failures.ts';
import type { QuickSteps } from '../../../activities/segment/quick-steps.ts';
import { runSegment } from '../../../activities/segment/run-segment.ts';
import { type Json, throughJson } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import type { OpenSession, Session, Store } from '../../../prisma/store/contract/contract.ts';
import { JournalConflict } from '../../../prisma/store/contract/journal-conflict.ts';
import { portionOf, type RunInput, type SegmentReport } from '../../../interpreter/host.ts';
import type { Effect, Reply } from '../../../interpreter/effect.ts';
import { editedStrand } from '../../../interpreter/edited-paths.ts';
import { turnsGranted } from '../../../interpreter/limits.ts';
import { replyTo, type Answers } from '../../../interpreter/simulation/script.ts';
import type { SegmentAsked } from '../../../interpreter/simulation/scripted-host.ts';

export function runScriptedSegment(asked: SegmentAsked): Promise<SegmentReport> {
  const { strand, scope, world } = asked;
  const request = requestOf(asked);
  return new Promise((resolve, reject) => {
    let begun = false;
    // What has begun commits, and its result is waited for.
    scope.onCancel(() => {
      if (!begun) resolve({ flow: { kind: 'cancelled' }, frame: strand.frame, set: {}, tally: null, steps: 0 });
    });
    world.simulation.schedule(0, async () => {
      if (scope.cancelled) return;
      begun = true;
      try {
        const { result, tookMs } = await perform(asked, request);
        world.simulation.schedule(tookMs, () => resolve(result));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

function requestOf({ host, strand, key, stepsLeft, budget }: SegmentAsked): SegmentRequest {
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
    pausedMs: position.pausedMs,
    extensions: position.extensions,
    ...defined({ budget }),
    ...editedStrand(host.walk, strand),
    forget: [],
  };
  position.seq += SEGMENT_EVENTS_MAX;
  return throughJson(request);
}

/** Nothing else moves meanwhile, so the clock may run ahead and be set back. */
async function perform(
  asked: SegmentAsked,
  request: SegmentRequest,
): Promise<{ result: SegmentResult; tookMs: number }> {
  const { world, host } = asked;
  const input = throughJson(host.walk.input);
  const events: RunEvent[] = [];
  const store = journalIn(host.journal, events);
  const first = attemptOf(asked, (key, effect) => world.script.find(key, effect));
  await runSegment({ store, quick: first.quick, recorded }, input, throughJson(request), 1);
  world.effects.push(...first.effects);
  // The second attempt gets the same answers; what it did is undone when it meets the journal row.
  const answers = new Map(first.answers);
  const second = attemptOf(asked, (key) => answers.get(key) ?? null);
  const result = throughJson(
    await runSegment({ store, quick: second.quick, recorded }, input, throughJson(request), 2),
  );
  vi.setSystemTime(world.simulation.now);
  host.events.push(...events);
  return { result, tookMs: first.clock - world.simulation.now };
}

/** Events of the run itself are in memory at once. */
const recorded = (): Promise<void> => Promise.resolve();

type Answer = ReturnType<Answers['find']>;

interface Attempt {
  quick: QuickSteps;
  effects: { key: string; effect: Effect }[];
  answers: [string, Answer][];
  clock: number;
}

function attemptOf({ world, host }: SegmentAsked, answer: (key: string, effect: Effect) => Answer): Attempt {
  vi.setSystemTime(world.simulation.now);
  const attempt: Attempt = { quick: { perform: answerStep }, effects: [], answers: [], clock: world.simulation.now };
  function answerStep(_input: RunInput, _session: Session, effect: Effect): Promise<Reply> {
    const key = host.keyOf(effect.key);
    const scripted = answer(key, effect);
    attempt.effects.push({ key, effect });
    attempt.answers.push([key, scripted]);
    attempt.clock += scripted?.tookMs ?? 1;
    vi.setSystemTime(attempt.clock);
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

/** The two parts of a store that a segment uses. Rows are kept as long as the run, longer than a store keeps them. */
function journalIn(rows: Map<string, Json>, events: RunEvent[]): Store {
  const session: Partial<OpenSession> = {
    commit: (entry) => {
      if (rows.has(entry.key)) return Promise.reject(new JournalConflict(entry.handle, entry.key));
      rows.set(entry.key, throughJson(entry.result));
      events.push(...throughJson(entry.events));
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const journal = { find: (_handle: string, key: string) => Promise.resolve(rows.get(key) ?? null) };
  return { journal, session: () => session } as unknown as Store;
}
