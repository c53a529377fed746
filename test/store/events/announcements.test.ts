/** What is told to those who listen: that a run has news always, that something was published only where somebody may want it. */
import { Client, type Notification } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();
let listener: Client;
let heard: Notification[] = [];
let count = 0;

beforeEach(async () => {
  heard = [];
  listener = new Client({ connectionString: opened.database.url });
  listener.on('notification', (notification) => heard.push(notification));
  await listener.connect();
  await listener.query('listen sentinel_run');
  await listener.query('listen sentinel_event');
});

afterEach(() => listener.end());

/** A run that begins and ends is an event for others; all of it is announced by one statement. */
async function announcedForARun(): Promise<string[]> {
  count += 1;
  const handle = `run-${count}`;
  heard = [];
  await opened.store.events.append(handle, [started(1), finished(2)]);
  await expect
    .poll(() => heard.some(({ channel, payload }) => channel === 'sentinel_run' && payload === handle), {
      timeout: 5_000,
    })
    .toBe(true);
  return heard.map(({ channel }) => channel).toSorted();
}

test('nobody hears of an event that nobody wants', async () => {
  expect(await announcedForARun()).toEqual(['sentinel_run']);
});

test('where a run waits for an event, whatever it is, workers hear of each', async () => {
  const { signals, runs } = opened.store;
  await runs.create({
    handle: 'waiting',
    name: 'n',
    definitionHash: 'h',
    project: '/project',
    persona: 'ada',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
  expect(await signals.next({ handle: 'waiting', glob: 'never:*', withCause: false, consumed: {} })).toBeNull();
  expect(await announcedForARun()).toEqual(['sentinel_event', 'sentinel_run']);
  const client = new Client({ connectionString: opened.database.url });
  await client.connect();
  await client.query('delete from event_subscriptions');
  await client.end();
  expect(await announcedForARun()).toEqual(['sentinel_run']);
});

test('where there is a trigger, workers hear of each event', async () => {
  const { triggers } = opened.store;
  const { trigger } = await triggers.add({
    name: 'reviewer',
    event: 'git:*',
    definitionHash: 'h',
    project: '/a',
    persona: 'ada',
    inputs: {},
    taskQueue: 'sentinel',
  });
  expect(await announcedForARun()).toEqual(['sentinel_event', 'sentinel_run']);
  await triggers.remove(trigger.id);
  expect(await announcedForARun()).toEqual(['sentinel_run']);
});
