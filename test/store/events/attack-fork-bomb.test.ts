/** A trigger that matches what its own runs publish: the runs that come of one event are bounded in depth and in breadth. */
import { expect, test } from 'vitest';
import { RUNS_OF_EVENT_MAX } from '../../../prisma/store/events/spread.ts';
import { outside, useTriggers } from '../harness/triggered.ts';

const { opened, add, spreadAll } = useTriggers();

/** What a run publishes about itself at once. */
const eventsOfRun = 3;
let turns = 0;

/** Plays all runs that are started, as `publishes` says, until none is left; how many there were. */
async function playAll(id: string, publishes: (handle: string) => Promise<void>): Promise<number> {
  const { triggers } = opened.store;
  let runs = 0;
  for (;;) {
    await spreadAll();
    const claimed = await triggers.claim(50, 60_000);
    if (claimed.length === 0) return runs;
    for (const start of claimed) {
      runs += 1;
      if (runs > 20 * RUNS_OF_EVENT_MAX) throw new Error('it does not end');
      await triggers.settle(start, { state: 'started' });
      if (start.trigger.id === id) await publishes(start.handle);
    }
  }
}

async function say(handle: string): Promise<void> {
  const session = opened.store.session();
  turns += 1;
  await opened.store.signals.publish(session, { handle, key: `k.${turns}@1`, name: `bomb:${turns}`, data: null });
  await session.commit({ handle, key: `k.${turns}@1`, result: null, events: [] });
  await session.close();
}

const several = async (handle: string): Promise<void> => {
  for (let n = 0; n < eventsOfRun; n += 1) await say(handle);
};

test('runs that start runs by their own events end at the bound, and the refused ones say why', async () => {
  const trigger = await add({ name: 'bomb', event: 'bomb:**' });
  const { seq } = await opened.store.triggers.publish(outside({ name: 'bomb:root' }));
  expect(await playAll(trigger.id, several)).toBe(RUNS_OF_EVENT_MAX);
  const starts = await opened.store.triggers.starts(trigger.id, 10_000);
  const refused = starts.filter(({ state }) => state === 'refused');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.reason).toContain(`runs came of event ${seq} already`);
  // The next event has runs of its own.
  await opened.store.triggers.publish(outside({ name: 'bomb:root' }));
  expect(await playAll(trigger.id, several)).toBe(RUNS_OF_EVENT_MAX);
});

test('nor do runs in between that steps start begin another chain', async () => {
  const trigger = await add({ name: 'bomb', event: 'bomb:**' });
  await opened.store.triggers.publish(outside({ name: 'bomb:root' }));
  const between = async (handle: string): Promise<void> => {
    turns += 1;
    const started = `run-${turns}`;
    await opened.store.cassettes.startedBy(started, handle);
    await several(`${started}/steps.0@1`);
  };
  expect(await playAll(trigger.id, between)).toBe(RUNS_OF_EVENT_MAX);
});

test('many events from outside, and many of one run that no event started, start a run each', async () => {
  const trigger = await add({ name: 'bomb', event: 'bomb:**' });
  for (let n = 0; n < RUNS_OF_EVENT_MAX + 20; n += 1) await say('by-a-person');
  for (let n = 0; n < 20; n += 1) await opened.store.triggers.publish(outside({ name: `bomb:outside-${n}` }));
  expect(await playAll(trigger.id, async () => undefined)).toBe(RUNS_OF_EVENT_MAX + 40);
});

test('a chain of a few runs is one: each start is the next one of the same event', async () => {
  const trigger = await add({ name: 'bomb', event: 'bomb:**' });
  await opened.store.triggers.publish(outside({ name: 'bomb:root' }));
  let left = 10;
  expect(
    await playAll(trigger.id, async (handle) => {
      left -= 1;
      if (left > 0) await say(handle);
    }),
  ).toBe(10);
});
