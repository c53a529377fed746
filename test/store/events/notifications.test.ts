/** What is worth telling is published once, and becomes messages that somebody has to take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { FedCursor } from '../../../prisma/store/contract/cursor-contract.ts';
import type { NewDelivery } from '../../../prisma/store/contract/notification-contract.ts';
import { noticeOf } from '../../../worker/notifications/notice.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();
const project = '/project/told';

beforeAll(async () => {
  for (const handle of ['told', 'told/inner'])
    await opened.store.runs.create({
      handle,
      name: 'nightly',
      definitionHash: 'hash',
      project,
      persona: 'ada',
      parent: handle === 'told' ? null : 'told',
      inputs: {},
      startedAt: 1,
    });
});

const failed = (seq: number): RunEvent => ({
  type: 'run-finished',
  seq,
  at: 1_700_000_000_000 + seq,
  key: '',
  status: 'failed',
  outcome: 'failed',
  failure: { code: 'SHELL_NOT_STARTED', message: 'no program', retryable: false },
  iterations: 1,
  durationMs: 1,
  outputs: {},
});

const asked = (seq: number, id: string): RunEvent => ({
  type: 'asked',
  seq,
  at: 1_700_000_000_000 + seq,
  key: 'steps.0@1',
  question: {
    id,
    kind: 'approval',
    message: 'go on?',
    choices: ['approve', 'reject'],
    show: null,
    form: null,
    assignee: 'ada',
    priority: 'normal',
    askedAt: 1,
    expiresAt: null,
    digest: 'digest',
  },
});

function reminded(seq: number, id: string): RunEvent {
  const event = asked(seq, id);
  if (event.type !== 'asked') throw new Error('bug: it asks');
  return { ...event, type: 'reminded', id, question: { ...event.question, reminders: 1 } };
}

const delivery = (id: string): NewDelivery => ({
  id,
  handle: 'told',
  event: 'asked',
  url: 'http://a.test/x',
  body: '{}',
});

const stuck = (seq: number): RunEvent => ({
  type: 'warning',
  seq,
  at: 1_700_000_000_000 + seq,
  key: 'steps.0@1/turn.3',
  code: 'MODEL_STUCK',
  message: 'in circles',
});

const CURSOR: FedCursor = { name: 'told', event: null, from: 'now', most: 100, withData: true };

async function noted(): Promise<string[]> {
  const { cursors } = opened.store;
  await cursors.behind([CURSOR]);
  const session = opened.store.session();
  const batch = await cursors.take(session, CURSOR);
  await session.end();
  return (batch?.events ?? []).flatMap((event) => {
    const notice = noticeOf(event);
    return notice === null ? [] : [`${notice.handle} ${notice.seq} ${notice.kind}`];
  });
}

test('an event is told of once, also where it is written again; the end of a nested run is not', async () => {
  const { events, cursors } = opened.store;
  await cursors.open(CURSOR);
  await events.append('told', [asked(1, 'steps.0@1'), asked(2, 'steps.1@1:stuck'), stuck(3), failed(4)]);
  await events.append('told/inner', [reminded(9, 'steps.0@1')]);
  await events.append('told/inner', [reminded(9, 'steps.0@1')]);
  await events.append('told', [asked(1, 'steps.0@1'), stuck(3)]);
  await events.append('told/inner', [asked(1, 'steps.0@1'), stuck(2), failed(3)]);
  expect(await noted()).toEqual([
    'told 1 asked',
    'told 2 stuck',
    'told 3 stuck',
    'told 4 failed',
    'told/inner 9 reminded',
    'told/inner 1 asked',
    'told/inner 2 stuck',
  ]);
  await events.append('told', [asked(1, 'steps.0@1'), failed(4)]);
  expect(await noted()).toEqual([]);
});

test('a question that was taken back is told of again where it is asked again', async () => {
  const { events } = opened.store;
  await events.append('told', [asked(9, 'steps.9@1'), stuck(10)]);
  expect(await noted()).toEqual(['told 9 asked', 'told 10 stuck']);
  expect(await events.takeBack('told', 9, 1)).toBe(true);
  await events.append('told', [asked(9, 'steps.9@2'), stuck(10)]);
  expect(await noted()).toEqual(['told 9 asked', 'told 10 stuck']);
});

async function write(to: string, ...deliveries: NewDelivery[]): Promise<void> {
  const session = opened.store.session();
  await opened.store.notifications.write(session, to, deliveries);
  await session.end();
}

test('the same message is made once, by however many workers', async () => {
  await write(project, delivery('a'), delivery('b'));
  await write(project, delivery('a'), delivery('b'));
  const claimed = await opened.store.notifications.claim(project, 10, 60_000);
  expect(new Set(claimed.map(({ id, attempts }) => `${id} ${attempts}`))).toEqual(new Set(['a 1', 'b 1']));
});

test('a message is nobody else’s for a time, is tried again where it was not taken, and given up at last', async () => {
  const { notifications } = opened.store;
  const other = '/project/other';
  await write(other, { id: 'c', handle: 'told', event: 'failed', url: 'http://b.test/x', body: '{}' });
  expect(await notifications.claim(other, 10, 200)).toHaveLength(1);
  expect(await notifications.claim(other, 10, 200)).toEqual([]);
  // Its worker died.
  await sleep(250);
  expect(await notifications.claim(other, 10, 60_000)).toMatchObject([{ id: 'c', attempts: 2 }]);
  await notifications.failed('c', 'it answered 500', 0);
  expect(await notifications.claim(other, 10, 60_000)).toMatchObject([{ id: 'c', attempts: 3 }]);
  await notifications.failed('c', 'it answered 500', null);
  expect(await notifications.claim(other, 10, 60_000)).toEqual([]);
  expect(await notifications.givenUp()).toEqual({ count: 1, finding: 'it answered 500', url: 'http://b.test/x' });
});

test('a message that was taken is not sent again', async () => {
  const { notifications } = opened.store;
  await write('/project/third', { id: 'd', handle: 'told', event: 'failed', url: 'http://b.test/x', body: '{}' });
  await notifications.claim('/project/third', 10, 0);
  await notifications.sent('d');
  expect(await notifications.claim('/project/third', 10, 0)).toEqual([]);
});
