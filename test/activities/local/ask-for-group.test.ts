/** A run asks for its group anew after an attempt of its that was lost: what that one recorded is not so. */
import { expect, test } from 'vitest';
import { askForGroup } from '../../../activities/local/ask-for-group.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { finished, started, useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const opened = useStore();
const asked = { group: 'deploy', onConflict: 'queue' as const, since: 1 };

const grouped = (seq: number, rest: object): RunEvent =>
  ({ type: 'group', seq, at: 0, key: '', group: 'deploy', ...rest }) as RunEvent;

test.each([
  [
    'that had waited',
    [grouped(2, { state: 'waiting', holder: 'other', ahead: 1 }), grouped(3, { state: 'taken' })],
    [1, 2],
  ],
  ['that had it at once', [grouped(2, { state: 'taken' })], [1]],
])('a run %s, and whose task failed as it ended, has its turn again', async (what, events, left) => {
  const { store } = opened;
  const handle = `lost ${what}`;
  await store.events.append(handle, [started(1), ...events, finished(9)]);
  expect((await store.runs.find(handle))?.finishedAt).not.toBeNull();
  const run = { handle, project: '/project', persona: 'ada', definitionHash: 'h' };
  expect(await askForGroup({ store, runs: commandContext('/').runPort }, run, asked)).toEqual({ state: 'taken' });
  expect(await store.runs.find(handle)).toMatchObject({ status: 'running', finishedAt: null });
  expect((await store.events.after(handle, 0)).map(({ seq }) => seq)).toEqual(left);
  await store.events.append(handle, [finished(9)]);
});
