/** The inbox is folded from events of runs: whatever order they are written in, and however often. */
import { expect, test } from 'vitest';
import type { Question } from '../../../language/events/question.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();

const question = (id: string, rest: Partial<Question> = {}): Question => ({
  id,
  kind: 'approval',
  message: `May I ${id}? \u0000`,
  choices: ['approve', 'reject'],
  show: { deep: [1] },
  form: null,
  assignee: 'ada',
  priority: 'high',
  askedAt: 1_000,
  expiresAt: null,
  digest: 'd1',
  ...rest,
});

const asked = (seq: number, id: string, rest: Partial<Question> = {}): RunEvent => ({
  type: 'asked',
  seq,
  at: 1,
  key: id,
  question: question(id, rest),
});
const answered = (seq: number, id: string): RunEvent => ({
  type: 'answered',
  seq,
  at: 2,
  key: id,
  id,
  open: 0,
  held: false,
  answer: { choice: 'approve', note: null, data: null, by: 'bob', at: 2 },
});

test('a question is open until it is settled, and settling stands when the events are written again', async () => {
  const { events, inbox } = opened.store;
  await events.append('r1', [asked(1, 'a@1'), asked(2, 'b@1', { expiresAt: 5_000 })]);
  expect((await inbox.list({ persona: 'ada', handle: 'r1' })).map(({ id }) => id)).toEqual(['b@1', 'a@1']);
  expect(await inbox.list({ handle: 'r1' })).toMatchObject([
    { id: 'b@1', expiresAt: 5_000, show: { deep: [1] } },
    { id: 'a@1', askedAt: 1_000, expiresAt: null, answer: null, state: 'open' },
  ]);
  await events.append('r1', [answered(3, 'a@1')]);
  await events.append('r1', [asked(1, 'a@1'), asked(2, 'b@1')]);
  expect((await inbox.list({ handle: 'r1' })).map(({ id }) => id)).toEqual(['b@1']);
  expect(await inbox.list({ handle: 'r1', all: true })).toMatchObject([
    { id: 'b@1' },
    { id: 'a@1', state: 'answered', answer: { by: 'bob' } },
  ]);
});

const reminded = (seq: number, reminders: number): RunEvent => ({
  type: 'reminded',
  seq,
  at: 2,
  key: 'a@1',
  id: 'a@1',
  question: question('a@1', { reminders, remindAfterMs: 5 }),
});

test('a reminder leaves a question open and counts; after the answer it changes nothing', async () => {
  const { events, inbox } = opened.store;
  await events.append('reminded', [asked(1, 'a@1'), reminded(2, 1)]);
  expect(await inbox.list({ handle: 'reminded' })).toMatchObject([{ state: 'open', reminders: 1, digest: 'd1' }]);
  await events.append('reminded', [reminded(4, 2)]);
  await events.append('reminded', [reminded(2, 1)]);
  expect(await inbox.list({ handle: 'reminded' })).toMatchObject([{ state: 'open', reminders: 2 }]);
  expect(await events.takeBack('reminded', 4, 1)).toBe(true);
  expect(await inbox.list({ handle: 'reminded' })).toMatchObject([{ state: 'open', reminders: 1 }]);
  await events.append('reminded', [answered(5, 'a@1')]);
  await events.append('reminded', [reminded(2, 1)]);
  expect(await inbox.list({ handle: 'reminded' })).toEqual([]);
});

test('asked and answered in one batch is answered; asked again as something else is open again', async () => {
  const { events, inbox } = opened.store;
  await events.append('r2', [asked(1, 'a@1'), answered(2, 'a@1')]);
  expect(await inbox.list({ handle: 'r2' })).toEqual([]);
  await events.append('r2', [
    { type: 'withdrawn', seq: 3, at: 3, key: 'a@1', id: 'a@1', open: 0, held: false },
    asked(4, 'a@1', { digest: 'd2' }),
  ]);
  expect(await inbox.list({ handle: 'r2' })).toMatchObject([{ digest: 'd2', state: 'open' }]);
});

test('nested runs are found through those around them, and nobody else is', async () => {
  const { events, inbox } = opened.store;
  await events.append('r3/steps.0@1', [asked(1, 'a@1')]);
  await events.append('r33', [asked(1, 'a@1')]);
  expect((await inbox.list({ handle: 'r3' })).map(({ handle }) => handle)).toEqual(['r3/steps.0@1']);
});

test('all questions that a run itself has open are found, however many', async () => {
  const { events, inbox } = opened.store;
  const ids = Array.from({ length: 1_100 }, (_, nth) => `steps.${nth + 1_000}@1`);
  await events.append('r5', [...ids.map((id, nth) => asked(nth, id)), answered(2_000, 'steps.1000@1')]);
  await events.append('r5/steps.0@1', [asked(1, 'a@1')]);
  expect(await inbox.open('r5')).toEqual(ids.slice(1));
});

test('what was told is shown until it is cleared', async () => {
  const { events, inbox } = opened.store;
  await events.append('r4', [
    {
      type: 'notified',
      seq: 1,
      at: 1,
      key: 'a@1',
      condition: 'error',
      priority: 'low',
      assignee: 'eve',
      message: 'it broke',
    },
  ]);
  expect(await inbox.list({ persona: 'eve' })).toMatchObject([
    { state: 'told', message: 'it broke', choices: [], digest: null },
  ]);
  expect(await inbox.clear({ persona: 'eve' })).toBe(1);
  expect(await inbox.list({ persona: 'eve' })).toEqual([]);
  await events.append('r4', [
    {
      type: 'notified',
      seq: 1,
      at: 1,
      key: 'a@1',
      condition: 'error',
      priority: 'low',
      assignee: 'eve',
      message: 'it broke',
    },
  ]);
  expect(await inbox.list({ persona: 'eve' })).toEqual([]);
});
