/**
 * `kill -9` of the worker of a run while it writes a changeset of fourteen operations. test/activities/cycle/killed.test.ts
 * has each of them with a process of its own; here are the first, one in the middle and the last with real workers.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { ARMED, type CrashPlan } from '../../../world/crash-points/armed-deaths.ts';
import { BEFORE, FOURTEEN, linkBefore, treeOf } from '../../activities/cycle/fourteen.ts';
import { STATES_BEFORE_APPROVAL } from '../../activities/cycle/states-before-approval.ts';
import { once } from '../harness/definitions.ts';
import { until, type Harness } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const openHarness = useHarnesses();

const move = (to: string) => ({ type: 'command' as const, command: 'cycle/transition', params: { to, must: true } });

/** As the shipped definition does it, from the approval on. */
const changes: Definition = {
  ...once('changes', [
    { type: 'command', command: 'cycle/start', params: { goal: '$goal' } },
    ...STATES_BEFORE_APPROVAL.map(move),
    { type: 'command', command: 'changeset/approve', params: { operations: '$operations' }, outputTo: 'approved' },
    {
      type: 'command',
      command: 'changeset/apply',
      params: { digest: '$approved.digest', operations: '$approved.operations' },
      outputTo: 'applied',
    },
    move('REFLECTING'),
    move('IDLE'),
  ]),
  safety: { requireApproval: ['delete'] },
  concurrency: { group: 'cognitive-cycle', onConflict: 'queue' },
};

let folders = 0;
function folderOfFourteen(harness: Harness): string {
  folders += 1;
  const folder = join(harness.project, `changed-${folders}`);
  mkdirSync(folder);
  for (const [name, content] of Object.entries(BEFORE)) writeFileSync(join(folder, name), content);
  linkBefore(folder);
  return folder;
}

/** Dies when it has put the `nth` file of a run in its place. */
function doomed(harness: Harness, handle: string, nth: number): Promise<WorkerProcess> {
  const plan: CrashPlan = {
    record: join(harness.project, 'passed'),
    deaths: [{ point: 'changeset.placed', nth, of: handle, do: 'kill' }],
  };
  return harness.startWorker({ SENTINEL_PROJECT: harness.project, [ARMED]: JSON.stringify(plan) });
}

const begin = (harness: Harness, handle: string, project: string): Promise<string> =>
  harness.start(changes, {
    project,
    handle,
    persona: 'ada',
    inputs: { goal: handle, operations: FOURTEEN as unknown as JsonObject[] },
  });

async function approve(harness: Harness, handle: string): Promise<void> {
  await harness.untilEvent(handle, ({ type }) => type === 'asked');
  const [asked] = await harness.store.inbox.list({ handle });
  // What is shown is long: whoever approves names what they saw. The worker dies while it is told.
  void harness.command('answer', handle, 'approve', '--digest', asked?.digest ?? '');
}

const dead = (worker: WorkerProcess): Promise<void> => until(() => !worker.isAlive);

async function transitionsOf(harness: Harness, folder: string): Promise<string[]> {
  const session = harness.store.session();
  try {
    const rows = await session.attempt<{ cycle: number; to_state: string }>(
      'select cycle, to_state from cycle_transitions where repository = $1 order by id',
      [folder],
    );
    return rows.map(({ cycle, to_state: state }) => `${cycle} ${state}`);
  } finally {
    await session.close();
  }
}

test('the next worker ends it: all files are as approved, and a file of a person as it was', async () => {
  const harness = await openHarness();
  const reference = folderOfFourteen(harness);
  const deaths = [1, 7, 14];
  const handles = deaths.map((nth) => `killed-at-${nth}`);
  const projects = deaths.map(() => folderOfFourteen(harness));
  let next = await doomed(harness, handles[0] ?? '', deaths[0] ?? 0);
  for (const [at, handle] of handles.entries()) {
    const folder = projects[at] ?? '';
    await begin(harness, handle, folder);
    await approve(harness, handle);
    await dead(next);
    next = await doomed(harness, handles[at + 1] ?? 'nobody', deaths[at + 1] ?? 1);
    expect(await harness.result(handle), handle).toMatchObject({
      outcome: 'completed',
      outputs: { applied: { settled: deaths[at] === FOURTEEN.length ? 'forward' : 'back' } },
    });
  }
  await begin(harness, 'unharmed', reference);
  await approve(harness, 'unharmed');
  expect(await harness.result('unharmed')).toMatchObject({ outputs: { applied: { settled: 'none' } } });
  for (const folder of projects) expect(treeOf(folder)).toEqual(treeOf(reference));
});

test('where no worker comes back, undo leaves all files as before', async () => {
  const harness = await openHarness();
  const folder = folderOfFourteen(harness);
  const before = treeOf(folder);
  const worker = await doomed(harness, 'undone', 7);
  await begin(harness, 'undone', folder);
  await approve(harness, 'undone');
  await dead(worker);
  expect(treeOf(folder)).not.toEqual(before);
  await harness.command('cancel', 'undone', '--force');
  const undone = await harness.command('undo', 'undone', '--force');
  expect(undone.code, undone.err).toBe(0);
  expect(treeOf(folder)).toEqual(before);
});

test('of two cycles of a repository the second begins where the first has ended, though the worker of the first died', async () => {
  const harness = await openHarness();
  const folder = folderOfFourteen(harness);
  const worker = await doomed(harness, 'one-of-two', 7);
  await begin(harness, 'one-of-two', folder);
  await harness.untilEvent('one-of-two', ({ type }) => type === 'asked');
  const second = [{ operation: 'MODIFY', path: 'm1.txt', content: 'by the second\n' }];
  await harness.start(changes, {
    project: folder,
    handle: 'two-of-two',
    persona: 'ada',
    inputs: { goal: 'the second', operations: second },
  });
  await approve(harness, 'one-of-two');
  await dead(worker);
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
  expect(await harness.result('one-of-two')).toMatchObject({ outcome: 'completed' });
  await approve(harness, 'two-of-two');
  // It is shown m1.txt once the first has ended, and that it is there.
  expect(await harness.result('two-of-two')).toMatchObject({ outcome: 'completed' });
  const cycles = (await transitionsOf(harness, folder)).map((line) => line.split(' ')[0] ?? '');
  expect(cycles[0]).not.toBe(cycles.at(-1));
  expect(cycles).toEqual([...Array<string>(8).fill(cycles[0] ?? ''), ...Array<string>(8).fill(cycles.at(-1) ?? '')]);
  expect(treeOf(folder).find((line) => line.startsWith('m1.txt'))).toContain('by the second');
});
