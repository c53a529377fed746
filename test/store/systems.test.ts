/** The tables that systems bring: made once, whole or not at all, and none but their own. */
import { describe, expect, test } from 'vitest';
import { type BackgroundTask, TablesRefused } from '../../prisma/store/contract/system-contract.ts';
import { useStore } from './harness/opened.ts';

const opened = useStore();
const NOTES = { notes: 'create table shelf_notes (id bigserial primary key, text text not null)' };

test('are made once, whoever asks, and what was made never changes', async () => {
  const { systems } = opened.store;
  const made = await Promise.all(Array.from({ length: 5 }, () => systems.apply('shelf', NOTES)));
  expect(made.flat()).toEqual(['notes']);
  expect(await systems.apply('shelf', { ...NOTES, more: 'alter table shelf_notes add column at timestamptz' })).toEqual(
    ['more'],
  );
  await expect(systems.apply('shelf', { notes: `${NOTES.notes} ` })).rejects.toThrow(/were changed after/);
  expect(await systems.list()).toContain('shelf');
});

test.each([
  [
    'SQL that fails half way',
    'create table half_one (id int); create table half_one (id int)',
    /nothing of them was kept/,
  ],
  [
    'a table of another name',
    'create table half_one (id int); create table others (id int)',
    /would make or change "others/,
  ],
  ['a change of a table of the engine', 'alter table runs add column half int', /would make or change "runs"/],
  ['the end of a table of the engine', 'drop table circuits', /would make or change "circuits/],
  ['the end of the transaction', 'create table half_one (id int); commit; begin', /nothing of them was kept/],
])('%s leaves nothing', async (_what, sql, words) => {
  const apply = opened.store.systems.apply('half', { first: sql });
  await expect(apply).rejects.toThrow(TablesRefused);
  await expect(apply).rejects.toThrow(words);
  expect(await opened.database.query("select 1 from pg_class where relname in ('half_one', 'others')")).toEqual([]);
  expect(await opened.database.query("select 1 from pg_class where relname = 'circuits'")).toHaveLength(1);
  expect(await opened.store.systems.list()).not.toContain('half');
});

/** The number of the performance, and how often it had failed. */
async function performed(task: BackgroundTask, isKept = true): Promise<string | null> {
  const session = opened.store.session();
  const due = await opened.store.systems.dueTask(session, task);
  await (isKept ? session.end() : session.close());
  return due === null ? null : `${due.number} ${due.failures}`;
}

const dueNow = (task: string): Promise<unknown> =>
  opened.database.query('update system_background set next_at = now() where task = $1', [task]);

describe('background work', () => {
  test('is due at once, and then after its time, by one worker at a time', async () => {
    const task = { system: 'shelf', task: 'sorting', everyMs: 60_000 };
    await opened.store.systems.openTask(task);
    await opened.store.systems.openTask(task);
    const first = opened.store.session();
    expect(await opened.store.systems.dueTask(first, task)).toEqual({ number: 0, failures: 0 });
    expect(await performed(task)).toBeNull();
    await first.close();
    expect([await performed(task, false), await performed(task), await performed(task)]).toEqual(['0 0', '0 0', null]);
    await dueNow('sorting');
    expect(await performed(task)).toBe('1 0');
  });

  test('is due sooner where its time has become shorter, and no later where it was due', async () => {
    const task = { system: 'shelf', task: 'sooner', everyMs: 3_600_000 };
    await opened.store.systems.openTask(task);
    expect(await performed(task)).toBe('0 0');
    await opened.store.systems.openTask({ ...task, everyMs: 1 });
    await expect.poll(() => performed(task)).toBe('1 0');
  });

  test('that fails rests, longer each time, and what is held is told', async () => {
    const { systems } = opened.store;
    const task = { system: 'shelf', task: 'failing', everyMs: 60_000 };
    await systems.openTask(task);
    const rests: number[] = [];
    for (const failures of [1, 2, 3]) {
      expect(await systems.holdTask(task, 'no\0 luck')).toBe(failures);
      const held = (await systems.heldTasks()).find((one) => one.task === 'failing');
      expect(held).toMatchObject({ attempts: failures, failure: 'no\u2400 luck' });
      rests.push(Math.round(((held?.notBefore ?? 0) - Date.now()) / 1000));
    }
    expect(rests).toEqual([1, 2, 4]);
    expect(await performed(task)).toBeNull();
    await dueNow('failing');
    expect(await performed(task)).toBe('0 3');
    expect((await systems.heldTasks()).filter((one) => one.task === 'failing')).toEqual([]);
  });

  test('as a run has one handle, whoever asks, until the run has ended', async () => {
    const { systems } = opened.store;
    const task = { system: 'shelf', task: 'long', everyMs: 60_000 };
    await systems.openTask(task);
    const ask = (): Promise<string | null> => systems.dueRun(task, ({ number }) => `run-${number}`);
    expect([...new Set(await Promise.all([ask(), ask(), ask()]))]).toEqual(['run-0']);
    expect(await systems.holdTask(task, 'late', 'run-7')).toBe(0);
    expect(await systems.holdTask(task, 'broke', 'run-0')).toBe(1);
    expect(await ask()).toBeNull();
    await dueNow('long');
    expect(await ask()).toBe('run-1');
    await systems.settleRun(task, 'run-0');
    expect(await ask()).toBe('run-1');
    await systems.settleRun(task, 'run-1');
    expect(await ask()).toBeNull();
    expect((await systems.heldTasks()).filter((one) => one.task === 'long')).toEqual([]);
  });
});
