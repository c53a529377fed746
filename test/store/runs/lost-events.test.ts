/** What a worker that was lost had recorded is taken back, with what came of it; what segments committed stays. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { PART_SIZE } from '../../../language/events/event-numbers.ts';
import type { Question } from '../../../language/events/question.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import type { StandingOf } from '../../../worker/lost-records.ts';
import { RunRecorder } from '../../../worker/run-recorder.ts';
import { finished, started, useStore, warning } from '../harness/opened.ts';

const opened = useStore();

const question = (id: string): Question => ({
  id,
  kind: 'approval',
  message: 'Ship it?',
  choices: ['approve'],
  show: null,
  form: null,
  assignee: 'ada',
  priority: 'normal',
  askedAt: 1,
  expiresAt: null,
  digest: 'd',
});
const asked = (seq: number, id: string): RunEvent => ({ type: 'asked', seq, at: 1, key: id, question: question(id) });
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
const told = (seq: number): RunEvent => ({
  type: 'notified',
  seq,
  at: 3,
  key: 'steps.1@1',
  condition: 'error',
  priority: 'low',
  assignee: 'ada',
  message: 'it failed',
});

const ofSegment = PART_SIZE + 1;
const nextBlock = 4 * PART_SIZE + 1;

const seqs = async (handle: string): Promise<number[]> =>
  (await opened.store.events.after(handle, -1)).map(({ seq }) => seq);

test("rows of the workflow's own go from the number on, wherever they stand; those of segments stay", async () => {
  const { events } = opened.store;
  await events.append('own', [started(1), warning(2), warning(3), warning(ofSegment), warning(nextBlock)]);
  await events.append('own-too', [started(1), warning(3)]);
  await events.takeBack('own', 3, 9);
  expect(await seqs('own')).toEqual([1, 2, ofSegment]);
  expect(await seqs('own-too')).toEqual([1, 3]);
});

test('a run that had not ended goes on', async () => {
  const { events, runs } = opened.store;
  await events.append('ended', [started(1), warning(2), finished(3)]);
  await events.takeBack('ended', 3, 9);
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
  await events.takeBack('asks', 3, 9);
  const items = await inbox.list({ handle: 'asks', all: true });
  expect(items.map(({ id, state, answer }) => `${id} ${state} ${JSON.stringify(answer)}`).toSorted()).toEqual([
    'a@1 open null',
    'c@1 open null',
  ]);
  expect(await runs.find('asks')).toMatchObject({ status: 'paused' });
  await events.append('asks', [answered(3, 'a@1')]);
  expect(await inbox.list({ handle: 'asks' })).toMatchObject([{ id: 'c@1' }]);
  expect(await runs.find('asks')).toMatchObject({ status: 'running' });
});

test('what happens instead is told of, though it has the number of what was lost', async () => {
  const { events } = opened.store;
  await events.append('tells', [started(1)]);
  await events.append('tells', [asked(2, 'a@1')]);
  await events.takeBack('tells', 2, 9);
  await events.append('tells', [finished(2)]);
  const published = await opened.database.query(
    "select data->>'status' as status from published_events where name = 'sentinel:tells:status' order by seq",
  );
  expect(published).toEqual([{ status: 'running' }, { status: 'completed' }]);
});

test('an earlier attempt that comes late takes nothing back, and writes nothing', async () => {
  const { store } = opened;
  await store.events.append('late', [started(1), warning(2, 'lost')]);
  expect(await store.events.takeBack('late', 2, 9)).toBe(true);
  await store.events.append('late', [warning(2, 'new'), asked(3, 'a@1')]);
  const late = new RunRecorder(store);
  await late.append('late', [warning(2, 'late')], { isReplaying: false, historyLength: 6, lostFrom: 2 });
  await late.close();
  expect(await store.events.after('late', -1)).toEqual([started(1), warning(2, 'new'), asked(3, 'a@1')]);
  expect(await store.inbox.open('late')).toEqual(['a@1']);
  expect(await store.events.takeBack('late', 3, 4)).toBe(true);
  expect(await store.events.takeBack('late', 2, 900)).toBe(false);
});

test('what fails half way is undone, and done anew', async () => {
  const { store } = opened;
  await store.events.append('half', [started(1), finished(2)]);
  await opened.database.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$",
  );
  await opened.database.query(
    "create trigger refused before update of finished_at on runs for each row when (new.handle = 'half') execute function refuse()",
  );
  await expect(store.events.takeBack('half', 2, 9)).rejects.toThrow('not now');
  expect(await seqs('half')).toEqual([1, 2]);
  await opened.database.query('drop trigger refused on runs');
  await store.events.takeBack('half', 2, 9);
  expect(await store.runs.find('half')).toMatchObject({ status: 'running', finishedAt: null });
});

test('whoever goes on with a run says where, and what is lost goes before the new is written', async () => {
  const { store } = opened;
  await store.events.append('taken-over', [
    started(1),
    warning(2, 'known'),
    warning(3, 'lost'),
    finished(4),
    warning(nextBlock, 'lost, too'),
  ]);
  const recorder = new RunRecorder(store);
  await recorder.append('taken-over', [started(1), warning(2, 'known')], { isReplaying: true, historyLength: 9 });
  await recorder.append('taken-over', [warning(3, 'new')], { isReplaying: false, historyLength: 9, lostFrom: 3 });
  await recorder.append('taken-over', [warning(4, 'newer')], { isReplaying: false, historyLength: 15 });
  await recorder.close();
  expect(await store.events.after('taken-over', -1)).toEqual([
    started(1),
    warning(2, 'known'),
    warning(3, 'new'),
    warning(4, 'newer'),
  ]);
  expect(await store.runs.find('taken-over')).toMatchObject({ status: 'running', outcome: null });
});

test('what is lost stays until what happens instead is written', async () => {
  const { store } = opened;
  await store.events.append('instead', [started(1), warning(2, 'lost'), warning(3, 'lost')]);
  await opened.database.query(
    "create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$",
  );
  await opened.database.query(
    "create trigger refused before insert on run_events for each row when (new.handle = 'instead') execute function refuse()",
  );
  await expect(store.events.takeBack('instead', 2, 9, [warning(2, 'new')])).rejects.toThrow('not now');
  expect(await seqs('instead')).toEqual([1, 2, 3]);
  await opened.database.query('drop trigger refused on run_events');
  expect(await store.events.takeBack('instead', 2, 9, [warning(2, 'new')])).toBe(true);
  expect(await store.events.after('instead', -1)).toEqual([started(1), warning(2, 'new')]);
  expect(await store.events.takeBack('instead', 2, 8, [warning(2, 'late')])).toBe(false);
  expect(await store.events.after('instead', -1)).toEqual([started(1), warning(2, 'new')]);
});

const replaying = { isReplaying: true, historyLength: 3 };
const known = (id: string): RunEvent[] => [started(1), warning(2), asked(3, id)];
/** One that has asked and heard the answer, of which history has the question. */
const heard = async (handle: string): Promise<void> => {
  const lost = new RunRecorder(opened.store);
  await lost.append(handle, [started(1)], { isReplaying: false, historyLength: 3 });
  await lost.append(handle, [warning(2), asked(3, 'a@1')], { isReplaying: false, historyLength: 6, lostFrom: 2 });
  await lost.append(handle, [answered(4, 'a@1')], { isReplaying: false, historyLength: 10, lostFrom: 4 });
  await lost.close();
  expect(await opened.store.inbox.open(handle)).toEqual([]);
};
const replayed = async (handle: string, events: RunEvent[], standing: Awaited<ReturnType<StandingOf>>) => {
  const standingOf = vi.fn<StandingOf>(() => Promise.resolve(standing));
  const next = new RunRecorder(opened.store, { standingOf });
  await next.append(handle, events, replaying);
  await sleep(5_000);
  await next.close();
  return standingOf.mock.calls.length;
};

describe('what an attempt had heard that was lost with it', () => {
  test('is taken back, though nobody goes on with the run: its question is open again', async () => {
    await heard('waits');
    expect(await replayed('waits', known('a@1'), { seq: 3, history: 12 })).toBe(2);
    expect(await seqs('waits')).toEqual([1, 2, 3]);
    expect(await opened.store.inbox.open('waits')).toEqual(['a@1']);
  });

  test.each([
    ['the run knows it', { seq: 4, history: 12 }, 1],
    ['the run has ended', null, 1],
    ['another attempt went on meanwhile', { seq: 3, history: 9 }, 2],
  ])('stays where %s', async (why, standing, looks) => {
    const handle = `stays ${why}`;
    await heard(handle);
    expect(await replayed(handle, known('a@1'), standing)).toBe(looks);
    expect(await seqs(handle)).toEqual([1, 2, 3, 4]);
    expect(await opened.store.inbox.open(handle)).toEqual([]);
  });

  test('stays where the run had only not come to it yet', async () => {
    await heard('later');
    const standingOf = vi
      .fn<StandingOf>()
      .mockResolvedValueOnce({ seq: 3, history: 12 })
      .mockResolvedValue({ seq: 4, history: 12 });
    const other = new RunRecorder(opened.store, { standingOf });
    await other.append('later', known('a@1'), replaying);
    await sleep(5_000);
    await other.close();
    expect(standingOf).toHaveBeenCalledTimes(2);
    expect(await seqs('later')).toEqual([1, 2, 3, 4]);
  });

  test('is asked of nobody where all is known, and where somebody goes on', async () => {
    await heard('known');
    expect(await replayed('known', [...known('a@1'), answered(4, 'a@1')], { seq: 3, history: 12 })).toBe(0);
    const standingOf = vi.fn<StandingOf>();
    const next = new RunRecorder(opened.store, { standingOf });
    await next.append('known', known('a@1'), replaying);
    await next.append('known', [warning(4, 'new')], { isReplaying: false, historyLength: 15, lostFrom: 4 });
    await sleep(2_500);
    await next.close();
    expect(standingOf).not.toHaveBeenCalled();
    expect(await opened.store.inbox.open('known')).toEqual(['a@1']);
  });
});
