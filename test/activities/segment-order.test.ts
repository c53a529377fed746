/**
 * A run whose steps are partly its own and partly a segment's, while the database is slow: whoever follows
 * it sees its events in their order, and last what it did last.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runSegment } from '../../activities/segment/run-segment.ts';
import { followRun } from '../../client/follow/follow-run.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { segmentNumbers } from '../../language/events/event-numbers.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { RunRecorder } from '../../worker/run-recorder.ts';
import { runInputOf } from '../../workflows/messages/start-input.ts';
import { create, once } from '../server/harness/definitions.ts';
import { finished, started, useStore, warning } from '../store/harness/opened.ts';
import { catalogue } from '../catalogue.ts';
import { segmentRequest } from './harness/segment-request.ts';

const opened = useStore();
const definition = once('order', [create('order', { n: 1 })]);
/** Longer than a follower waits for what may still be missing. */
const SLOW_MS = 400;

type Append = (append: Store['events']['append']) => Store['events']['append'];

/** The store as the recorder sees it; segments write to it past that. */
function slowed(change: Append): Store {
  const { store } = opened;
  return { ...store, events: { ...store.events, append: change((...given) => store.events.append(...given)) } };
}

/** Turns of a run: events of its own, and then a segment. */
async function live(handle: string, store: Store, turns: readonly { own: number }[]): Promise<void> {
  const recorder = new RunRecorder(store);
  const task = { isReplaying: false, historyLength: 3 };
  let seq = 1;
  await recorder.append(handle, [started(seq)], task);
  for (const [turn, { own }] of turns.entries()) {
    const events: RunEvent[] = Array.from({ length: own }, (_, nth) => warning(seq + nth + 1));
    seq += own;
    if (events.length > 0) await recorder.append(handle, events, task);
    const { from, taken } = segmentNumbers(seq);
    await segment(handle, recorder, `steps.0@${turn + 1}`, from);
    seq = taken;
  }
  await recorder.append(handle, [finished(seq + 1)], task);
  await recorder.close();
}

async function segment(handle: string, recorder: RunRecorder, key: string, seq: number): Promise<void> {
  const input = runInputOf({ definition, catalogue, project: '/', persona: 'ada' }, handle, 0);
  const parts = {
    store: opened.store,
    quick: { perform: () => Promise.resolve({ ok: true as const, value: { key } }) },
    recorded: (of: string) => recorder.written(of),
  };
  await runSegment(parts, input, segmentRequest(input, key, seq), { attempt: 1 });
}

async function followed(handle: string): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { event } of followRun(opened.store, handle)) numbers.push(event.seq);
  return numbers;
}

const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

const CASES: { title: string; change: Append; turns: { own: number }[] }[] = [
  {
    title: 'what is written late stands before the segment behind it',
    change:
      (append) =>
      async (...given) => {
        await sleep(SLOW_MS);
        await append(...given);
      },
    turns: [{ own: 3 }],
  },
  {
    title: 'turn after turn, and the last one last',
    change:
      (append) =>
      async (...given) => {
        await sleep(SLOW_MS);
        await append(...given);
      },
    turns: [{ own: 2 }, { own: 0 }, { own: 600 }, { own: 1 }],
  },
  {
    title: 'where the database is away for a moment',
    change: (append) => {
      let calls = 0;
      return async (...given) => {
        calls += 1;
        if (calls === 1) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
        await append(...given);
      };
    },
    turns: [{ own: 2 }, { own: 2 }],
  },
];

test.each(CASES)('$title', async ({ title, change, turns }) => {
  const handle = title.replaceAll(' ', '-');
  const [seen] = await Promise.all([followed(handle), live(handle, slowed(change), turns)]);
  const stored = (await opened.store.events.after(handle, -1)).map(({ seq }) => seq);
  expect(seen).toEqual(ascending(seen));
  expect(seen).toEqual(stored);
  expect(stored.length).toBeGreaterThan(turns.length + turns.reduce((sum, { own }) => sum + own, 0));
});

test('a segment does not wait for the start of its run, which short runs write with their end', async () => {
  const recorder = new RunRecorder(opened.store);
  await recorder.append('short', [started(1)], { isReplaying: false, historyLength: 3 });
  await segment('short', recorder, 'steps.0@1', segmentNumbers(1).from);
  expect((await opened.store.events.after('short', -1)).map(({ type }) => type)).not.toContain('run-started');
  await recorder.close();
});
