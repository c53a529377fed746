/**
 * The real segment, over a journal in memory: the request and the report travel as JSON, and every
 * segment is asked for twice, as after a worker that died before its answer arrived.
 */
import { vi } from 'vitest';
import type { SegmentRequest, SegmentResult } from '../../../interpreter/contract.ts';
import { runSegment } from '../../../activities/segment/run-segment.ts';
import { throughJson } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { SegmentReport } from '../../../interpreter/host.ts';
import type { SegmentAsked } from '../../../interpreter/simulation/scripted-host.ts';
import { attemptOf, journalIn, requestOf } from './segment-parts.ts';

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

const setClock = (now: number): void => void vi.setSystemTime(now);

/** Nothing else moves meanwhile, so the clock may run ahead and be set back. */
async function perform(
  asked: SegmentAsked,
  request: SegmentRequest,
): Promise<{ result: SegmentResult; tookMs: number }> {
  const { world, host } = asked;
  const input = throughJson(host.walk.input);
  const events: RunEvent[] = [];
  const store = journalIn(host.journal, events);
  const first = attemptOf(asked, (key, effect) => world.script.find(key, effect), setClock);
  await runSegment({ store, quick: first.quick, recorded }, input, throughJson(request), { attempt: 1 });
  world.effects.push(...first.effects);
  // The second attempt gets the same answers; what it did is undone when it meets the journal row.
  const answers = new Map(first.answers);
  const second = attemptOf(asked, (key) => answers.get(key) ?? null, setClock);
  const result = throughJson(
    await runSegment({ store, quick: second.quick, recorded }, input, throughJson(request), { attempt: 2 }),
  );
  setClock(world.simulation.now);
  host.events.push(...events);
  return { result, tookMs: first.clock - world.simulation.now };
}

/** Events of the run itself are in memory at once. */
const recorded = (): Promise<void> => Promise.resolve();
