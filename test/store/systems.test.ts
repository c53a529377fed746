/** The tables that systems bring: made once, whole or not at all, and none but their own. */
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { defineCommand } from '../../operations/command.ts';
import { createRegistry } from '../../operations/registry.ts';
import { BackgroundTasks, type TasksParts } from '../../worker/background/background-tasks.ts';
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
  opened.database.query("update system_background set next_at = 'epoch' where task = $1", [task]);

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

  test('says how long nothing is due, and that a run which is under way is to be looked at', async () => {
    const { systems } = opened.store;
    const tasks = [
      { system: 'shelf', task: 'hourly', everyMs: 3_600_000 },
      { system: 'shelf', task: 'by-run', everyMs: 60_000 },
    ];
    const [hourly, byRun] = tasks;
    if (hourly === undefined || byRun === undefined) throw new Error('bug: there are two');
    for (const task of tasks) await systems.openTask(task);
    expect(await systems.untilDue(tasks)).toBeLessThanOrEqual(0);
    await performed(hourly);
    expect(await systems.untilDue([hourly])).toBeGreaterThan(3_590_000);
    await systems.dueRun(byRun, () => 'run-of-it');
    expect(await systems.untilDue(tasks)).toBe(0);
    await systems.settleRun(byRun, 'run-of-it');
    const ms = await systems.untilDue(tasks);
    expect(ms).toBeGreaterThan(50_000);
    expect(ms).toBeLessThanOrEqual(60_000);
  });

  test('is looked for when it is due, and not each second', async () => {
    const { store } = opened;
    let count = 0;
    const sort = defineCommand({
      name: 'shelf/sort',
      permission: 'write',
      speed: 'quick',
      params: z.strictObject({}),
      result: z.null(),
      run: () => {
        count += 1;
        return Promise.resolve(null);
      },
    });
    const looks = vi.spyOn(store.systems, 'dueTask');
    const task = { system: 'shelf', task: 'rarely', everyMs: 3000, command: 'shelf/sort' };
    const none = {} as unknown;
    const performing = await BackgroundTasks.open({
      store,
      registry: createRegistry([sort]),
      starting: none as TasksParts['starting'],
      runs: none as TasksParts['runs'],
      project: '/project',
      tasks: [task],
      say: () => undefined,
    });
    await expect.poll(() => count, { timeout: 10_000 }).toBe(2);
    await performing?.close();
    expect(looks.mock.calls.filter(([, { task: name }]) => name === 'rarely').length).toBeLessThanOrEqual(3);
    looks.mockRestore();
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
