/** The tables that systems bring: made once, whole or not at all, and none but their own. */
import { expect, test } from 'vitest';
import { TablesRefused } from '../../prisma/store/contract/system-contract.ts';
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
