/** The waits of the durable host while its run stands still: how many timers Temporal is asked for, and when they end. */
import { expect, test, vi } from 'vitest';
import type { Strand } from '../../../interpreter/host.ts';
import { firstPosition } from '../../../interpreter/position.ts';
import { lineGoesOn, lineStands } from '../../../interpreter/stillness.ts';
import { heldMs, type Walk } from '../../../interpreter/walk-state.ts';
import type { Question } from '../../../language/events/question.ts';
import type { Control } from '../../../workflows/host/control.ts';
import { nextEvent } from '../../../workflows/host/next-event.ts';
import { Waiting } from '../../../workflows/host/waiting.ts';

/** The clock, and what waits for it or for a condition, as a workflow has them. */
const temporal = vi.hoisted(() => ({
  now: 0,
  timers: 0,
  waits: new Set<{ isMet: () => boolean; at: number | null; end: (met: boolean) => void }>(),
}));
vi.mock('@temporalio/workflow', async (actual) => ({
  ...(await actual<object>()),
  condition: (isMet: () => boolean, ms?: number) => {
    if (isMet()) return Promise.resolve(true);
    if (ms !== undefined) temporal.timers += 1;
    const at = ms === undefined ? null : temporal.now + ms;
    return new Promise((resolve) => void temporal.waits.add({ isMet, at, end: resolve }));
  },
  CancellationScope: { current: () => ({ consideredCancelled: false }) },
}));
vi.mock('../../../workflows/replay-order/local-activity.ts', () => ({ askLocally: () => Promise.resolve(null) }));

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Lets conditions end that are met, and then the timers up to `to`, one after the other. */
async function passUntil(to: number): Promise<void> {
  for (;;) {
    await settled();
    const waits = [...temporal.waits];
    const met = waits.find(({ isMet }) => isMet());
    const next = waits.filter(({ at }) => at !== null && at <= to).toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))[0];
    const wait = met ?? next;
    if (wait === undefined) break;
    if (met === undefined) temporal.now = wait.at ?? temporal.now;
    temporal.waits.delete(wait);
    wait.end(met !== undefined);
  }
  temporal.now = to;
}

const HOUR = 3_600_000;
const strand = { within: null } as unknown as Strand;

function standingRun() {
  Object.assign(temporal, { now: 0, timers: 0 });
  temporal.waits.clear();
  const walk = { position: firstPosition(0), host: { now: () => temporal.now } } as unknown as Walk;
  const control = { cancelled: false, heard: 0 };
  const waiting = new Waiting(walk, control as Control);
  lineStands(walk);
  return { walk, control, waiting, left: () => 10_000 + heldMs(walk) };
}

const question = { id: 'steps.0@1', priority: 'normal' } as Question;

/** Waits again with what is left, as the walk does, until its time is up. */
async function untilUp(end: () => number, wait: (untilMs: number) => Promise<unknown>): Promise<number> {
  while (temporal.now < end()) expect(await wait(end())).toBe('late');
  return temporal.now;
}

test.each<[string, (parts: ReturnType<typeof standingRun>, untilMs: number) => Promise<unknown>]>([
  ['a time', ({ waiting }, untilMs) => waiting.forTime(strand, 'steps.0@1', untilMs, null)],
  ['an answer', ({ waiting }, untilMs) => waiting.forAnswer(strand, question, untilMs)],
  [
    'an event',
    ({ waiting }, untilMs) =>
      nextEvent(waiting, strand, { key: 'steps.0@1', pattern: 'never', withCause: false, consumed: {}, untilMs }),
  ],
])('a line that waits for %s beside ten hours of standing still sets two timers', async (_what, wait) => {
  const parts = standingRun();
  parts.walk.position.questions.push(question);
  const up = untilUp(parts.left, (untilMs) => wait(parts, untilMs));
  await passUntil(10 * HOUR);
  lineGoesOn(parts.walk);
  await passUntil(11 * HOUR);
  expect(await up).toBe(10 * HOUR + 10_000);
  expect(temporal.timers).toBe(2);
});

test('what comes by the clock, a clean-up that ends, an answer and an event are not waited for in vain', async () => {
  const { waiting, walk, control } = standingRun();
  walk.position.questions.push(question);
  const shield = { until: 2 * HOUR };
  const ends: string[] = [];
  const note = (name: string, wait: Promise<unknown>): void => {
    void wait.then((end) => ends.push(`${name} ${String(end)} ${temporal.now / HOUR}`));
  };
  const wanted = { key: 'steps.1@1', pattern: 'never', withCause: false, consumed: {}, untilMs: 10_000 };
  note('clock', waiting.forTime(strand, 'steps.0@1', 10_000, HOUR));
  note('clean-up', waiting.forTime({ ...strand, shield }, 'always.0@1', 10_000, null));
  note('answer', waiting.forAnswer(strand, question, 10_000));
  note('stopped', nextEvent(waiting, strand, wanted));
  await passUntil(3 * HOUR);
  walk.position.questions = [];
  control.heard += 1;
  await passUntil(4 * HOUR);
  walk.position.stopping = true;
  await passUntil(5 * HOUR);
  expect(ends).toEqual(['clock late 1', 'clean-up late 2', 'answer settled 3', 'stopped stop 4']);
});
