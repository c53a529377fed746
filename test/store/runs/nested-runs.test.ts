/** Runs nested in one: a step may have started several, whose handles bear a mark; the store knows of all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { followRun, type FollowedEvent } from '../../../client/follow/follow-run.ts';
import { nestedEvents, type EventSource } from '../../../client/follow/nested-events.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { everyEvent } from '../../../prisma/store/runs/every-event.ts';
import { all, finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

const step = (seq: number, type: 'step-started' | 'step-finished', key = 'steps.0@1'): RunEvent =>
  type === 'step-started'
    ? { seq, at: 0, key, type, step: 'sentinel', label: 'inner' }
    : { seq, at: 0, key, type, step: 'sentinel', label: 'inner', outcome: 'ok', durationMs: 1 };

async function nest(parent: string, name: string, at: number): Promise<void> {
  await opened.store.events.append(`${parent}/${name}`, [{ ...started(1, name), at, parent }, finished(2)]);
}

const source: EventSource = {
  events: (handle) => all(everyEvent(opened.store, handle)),
  store: () => Promise.resolve(opened.store),
};
const told = ({ handle, event }: FollowedEvent): string => `${handle} ${event.type}`;

test('all that a step started are found, in the order they began, and what is nested in them', async () => {
  const { store } = opened;
  const events = [
    started(1),
    step(2, 'step-started'),
    step(3, 'step-started'),
    step(4, 'step-finished'),
    step(5, 'step-started', 'steps.1@1'),
  ];
  await store.events.append('outer', events);
  await nest('outer', 'steps.0@1#1.1', 20);
  await nest('outer', 'steps.0@1', 10);
  await nest('outer', 'steps.0@11', 15);
  await store.events.append('outer/steps.0@1#1.1', [step(3, 'step-started')]);
  await nest('outer/steps.0@1#1.1', 'steps.0@1', 25);
  expect(await store.runs.nested('outer')).toEqual(['outer/steps.0@1', 'outer/steps.0@11', 'outer/steps.0@1#1.1']);
  expect(await store.runs.nested('outer', 'steps.0@1')).toEqual(['outer/steps.0@1', 'outer/steps.0@1#1.1']);
  const nested = await nestedEvents(source, 'outer', events);
  expect([...nested].map(([name, below]) => [name, below.length])).toEqual([
    ['steps.0@1', 2],
    ['steps.0@1#1.1', 3],
    ['steps.1@1', 0],
    ['steps.0@1#1.1/steps.0@1', 2],
  ]);
});

test('following tells of each of them before the step ends', async () => {
  const { store } = opened;
  await store.events.append('done', [started(1), step(2, 'step-started')]);
  await nest('done', 'steps.0@1', 10);
  await nest('done', 'steps.0@1#1.1', 20);
  await store.events.append('done', [step(3, 'step-started'), step(4, 'step-finished'), finished(5)]);
  const lines = (await all(followRun(store, 'done'))).map(told);
  const marked = ['done/steps.0@1#1.1 run-started', 'done/steps.0@1#1.1 run-finished'];
  expect(lines).toEqual(expect.arrayContaining(['done/steps.0@1 run-started', ...marked]));
  expect(lines.slice(-2)).toEqual(['done step-finished', 'done run-finished']);
  expect(new Set(lines).size).toBe(lines.length - 1);
});

test('one that begins while the step goes on is told of then', async () => {
  const { store } = opened;
  await store.events.append('live', [started(1), step(2, 'step-started')]);
  const lines: string[] = [];
  const following = (async () => {
    for await (const followed of followRun(store, 'live')) lines.push(told(followed));
  })();
  await nest('live', 'steps.0@1', 10);
  await nest('live', 'steps.0@1#2.0', 20);
  const deadline = Date.now() + 10_000;
  while (!lines.includes('live/steps.0@1#2.0 run-finished') && Date.now() < deadline) await sleep(50);
  expect(lines).toContain('live/steps.0@1#2.0 run-finished');
  expect(lines).not.toContain('live step-finished');
  await store.events.append('live', [step(3, 'step-finished'), finished(4)]);
  await following;
});

test('those that are paused are found from every run around them', async () => {
  const { store } = opened;
  const pause = async (handle: string, at: number): Promise<void> =>
    store.events.append(handle, [
      { ...started(1, 'held'), at },
      { seq: 2, at, key: '', type: 'paused', reason: 'asked' },
    ]);
  await store.events.append('top', [started(1)]);
  await store.events.append('top/steps.0@1', [started(1)]);
  await pause('top/steps.0@1/steps.0@1', 10);
  await pause('top/steps.1@1', 20);
  await pause('top2/steps.0@1', 30);
  await nest('top', 'steps.2@1', 40);
  expect(await store.runs.pausedBelow(['top', 'top/steps.0@1', 'none'])).toEqual([
    { handle: 'top/steps.1@1', name: 'held', around: 'top' },
    { handle: 'top/steps.0@1/steps.0@1', name: 'held', around: 'top' },
    { handle: 'top/steps.0@1/steps.0@1', name: 'held', around: 'top/steps.0@1' },
  ]);
});
