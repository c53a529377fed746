/** What a worker that was lost had recorded is taken back, with what came of it; what segments committed stays. */
import { expect, test } from 'vitest';
import type { Question } from '../../language/question.ts';
import type { RunEvent } from '../../language/run-event.ts';
import { RunRecorder } from '../../worker/run-recorder.ts';
import { PART_SIZE } from '../../language/event-numbers.ts';
import { finished, started, useStore, warning } from './opened.ts';

const opened = useStore();

const question = (id: string): Question => ({ id, kind: 'approval', message: 'Ship it?', choices: ['approve'], show: null, form: null, assignee: 'ada', priority: 'normal', askedAt: 1, expiresAt: null, digest: 'd' });
const asked = (seq: number, id: string): RunEvent => ({ type: 'asked', seq, at: 1, key: id, question: question(id) });
const answered = (seq: number, id: string): RunEvent => ({ type: 'answered', seq, at: 2, key: id, id, open: 0, held: false, answer: { choice: 'approve', note: null, data: null, by: 'bob', at: 2 } });
const told = (seq: number): RunEvent => ({ type: 'notified', seq, at: 3, key: 'steps.1@1', condition: 'error', priority: 'low', assignee: 'ada', message: 'it failed' });

const ofSegment = PART_SIZE + 1;
const nextBlock = 4 * PART_SIZE + 1;
const seqs = async (handle: string): Promise<number[]> => (await opened.store.events.after(handle, -1)).map(({ seq }) => seq);

test("rows of the workflow's own go from the number on, wherever they stand; those of segments stay", async () => {
  const { events } = opened.store;
  await events.append('own', [started(1), warning(2), warning(3), warning(ofSegment), warning(nextBlock)]);
  await events.append('own-too', [started(1), warning(3)]);
  await events.takeBack('own', 3);
  expect(await seqs('own')).toEqual([1, 2, ofSegment]);
  expect(await seqs('own-too')).toEqual([1, 3]);
});

test('a run that had not ended goes on', async () => {
  const { events, runs } = opened.store;
  await events.append('ended', [started(1), warning(2), finished(3)]);
  await events.takeBack('ended', 3);
  expect(await runs.find('ended')).toMatchObject({ status: 'running', outcome: null, finishedAt: null, outputs: null });
  await events.append('ended', [{ type: 'paused', seq: 3, at: 4, key: '', reason: 'somebody said so' }]);
  expect(await runs.find('ended')).toMatchObject({ status: 'paused' });
  await events.append('ended', [finished(4, { outcome: 'stopped' })]);
  expect(await runs.find('ended')).toMatchObject({ status: 'completed', outcome: 'stopped' });
});

test('questions stand as they did, and what was asked or told by nobody is gone', async () => {
  const { events, inbox, runs } = opened.store;
  await events.append('asks', [started(1), asked(2, 'a@1'), answered(3, 'a@1'), asked(4, 'b@1'), told(5)]);
  await events.append('asks/steps.0@1', [asked(9, 'c@1')]);
  await events.takeBack('asks', 3);
  expect((await inbox.list({ handle: 'asks', all: true })).map(({ id, state, answer }) => [id, state, answer])).toEqual([['c@1', 'open', null], ['a@1', 'open', null]]);
  expect(await runs.find('asks')).toMatchObject({ status: 'paused' });
  await events.append('asks', [answered(3, 'a@1')]);
  expect(await inbox.list({ handle: 'asks', all: true })).toMatchObject([{ id: 'c@1' }, { id: 'a@1', state: 'answered' }]);
  expect(await runs.find('asks')).toMatchObject({ status: 'running' });
});

test('whoever goes on with a run says where, and what is lost goes before the new is written', async () => {
  const { store } = opened;
  await store.events.append('taken-over', [started(1), warning(2, 'known'), warning(3, 'lost'), finished(4), warning(nextBlock, 'lost, too')]);
  const recorder = new RunRecorder(store);
  await recorder.append('taken-over', [started(1), warning(2, 'known')], { isReplaying: true, historyLength: 9 });
  await recorder.append('taken-over', [warning(3, 'new')], { isReplaying: false, historyLength: 9, lostFrom: 3 });
  await recorder.append('taken-over', [warning(4, 'newer')], { isReplaying: false, historyLength: 15 });
  await recorder.close();
  expect(await store.events.after('taken-over', -1)).toEqual([started(1), warning(2, 'known'), warning(3, 'new'), warning(4, 'newer')]);
  expect(await store.runs.find('taken-over')).toMatchObject({ status: 'running', outcome: null });
});
