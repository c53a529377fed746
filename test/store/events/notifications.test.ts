/** What is worth telling is noted with its event, once, and becomes messages that somebody has to take. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { NewDelivery } from '../../../prisma/store/contract/models/limit-contract.ts';
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

const delivery = (id: string): NewDelivery => ({
  id,
  handle: 'told',
  event: 'asked',
  url: 'http://a.test/x',
  body: '{}',
});

const noted = async (): Promise<[string, number, string][]> =>
  (await opened.store.notifications.notices(project, 100)).map(({ handle, seq, kind }) => [handle, seq, kind]);

test('an event is noted once, also where it is written again; the end of a nested run is not', async () => {
  const { events, notifications } = opened.store;
  await events.append('told', [asked(1, 'steps.0@1'), asked(2, 'steps.1@1:stuck'), failed(3)]);
  await events.append('told', [asked(1, 'steps.0@1')]);
  await events.append('told/inner', [asked(1, 'steps.0@1'), failed(2)]);
  const all = await noted();
  expect(all).toHaveLength(4);
  expect(new Set(all.map((note) => note.join(' ')))).toEqual(
    new Set(['told 1 asked', 'told 2 stuck', 'told 3 failed', 'told/inner 1 asked']),
  );
  const notices = await notifications.notices(project, 100);
  // Two workers make the same messages.
  await notifications.spread(project, notices, [delivery('a'), delivery('b')]);
  await notifications.spread(project, notices, [delivery('a'), delivery('b')]);
  expect(await noted()).toEqual([]);
  const claimed = await notifications.claim(project, 10, 60_000);
  expect(new Set(claimed.map(({ id, attempts }) => `${id} ${attempts}`))).toEqual(new Set(['a 1', 'b 1']));
});

test('a message is nobody else’s for a time, is tried again where it was not taken, and given up at last', async () => {
  const { notifications } = opened.store;
  const other = '/project/other';
  await notifications.spread(
    other,
    [],
    [{ id: 'c', handle: 'told', event: 'failed', url: 'http://b.test/x', body: '{}' }],
  );
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
  await notifications.spread(
    '/project/third',
    [],
    [{ id: 'd', handle: 'told', event: 'failed', url: 'http://b.test/x', body: '{}' }],
  );
  await notifications.claim('/project/third', 10, 0);
  await notifications.sent('d');
  expect(await notifications.claim('/project/third', 10, 0)).toEqual([]);
});
