/** Shell steps that segments begin: what ends soon costs no activity, and what takes long goes on in one of its own. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { editRun } from '../../../runs/steer-run.ts';
import { Harness, until } from '../harness/harness.ts';
import { shapeOf } from '../harness/trace-shape.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

/** Of a run's history: its events, and its regular activities. */
async function historyOf(handle: string): Promise<{ events: number; activities: string[] }> {
  const { events } = await harness.history(handle);
  const activities = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [scheduled.activityId ?? ''] : [],
  );
  return { events: events?.length ?? 0, activities };
}

const linesOf = (name: string): string[] => {
  const path = join(harness.project, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};
const finishedSteps = async (handle: string): Promise<string[]> =>
  (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' ? [`${event.key} ${event.outcome}`] : [],
  );

const forty = (file: string) =>
  Array.from({ length: 40 }, (_, n) => shell(`echo ${n} | tee -a ${file}`, { outputTo: `said${n}` }));

/** How long it takes until something that is said is answered. */
async function heard(say: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await say();
  return performance.now() - before;
}

test('forty in a row are a few local activities, each done once, and told as steps by themselves are', async () => {
  const begun = await harness.run(once('forty', forty('forty')));
  const apart = await harness.run(once('forty-apart', forty('forty-apart'), { durability: 'step' }));
  expect(begun.result).toMatchObject({
    outcome: 'completed',
    outputs: { said0: { stdout: '0\n' }, said39: { exitCode: 0 } },
  });
  expect(linesOf('forty')).toEqual(Array.from({ length: 40 }, (_, n) => String(n)));
  expect(shapeOf(begun.events)).toEqual(shapeOf(apart.events));
  expect((await historyOf(apart.handle)).activities).toHaveLength(40);
  // A machine that is busy may take long for one of them, and several tasks for all.
  const { events, activities } = await historyOf(begun.handle);
  expect(activities.length).toBeLessThan(8);
  expect(events).toBeLessThan((await historyOf(apart.handle)).events / 2);
  const { out } = await harness.command('logs', begun.handle, '--lines', '100');
  expect(out.match(/ {2}\d+$/gm)).toHaveLength(40);
  expect((await harness.command('replay', begun.handle)).code).toBe(0);
});

test('one that takes long goes on in an activity of its own: one process, its output whole, and no word of it', async () => {
  const command = 'echo $$ >> long-pids; for n in 1 2 3 4 5 6 7 8; do echo $n; sleep 0.15; done';
  const { handle, result } = await harness.run(
    once('long', [shell('echo first'), shell(command, { outputTo: 'said' }), shell('echo last')]),
  );
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: { said: { stdout: '1\n2\n3\n4\n5\n6\n7\n8\n', stderr: '' } },
  });
  expect(linesOf('long-pids')).toHaveLength(1);
  expect((await historyOf(handle)).activities).toContain('steps.1@1');
  const { out } = await harness.command('logs', handle, '--step', 'steps.1@1');
  expect(out).toBe('1\n2\n3\n4\n5\n6\n7\n8\n');
  const { durationMs = 0 } = (await harness.events(handle)).find(
    (event) => event.type === 'step-finished' && event.key === 'steps.1@1',
  ) as { durationMs?: number };
  expect(durationMs).toBeGreaterThan(1_150);
  expect((await harness.command('replay', handle)).code).toBe(0);
});

test('what is said to a run in the middle of it is heard within a second: a pause, an edit, a cancellation', async () => {
  const handle = await harness.start(
    once('told', [shell('echo before'), shell('echo $$ >> told-pids; sleep 60'), shell('echo after')]),
  );
  await until(() => linesOf('told-pids').length === 1);
  const edit = {
    revision: 0,
    op: 'update',
    path: 'steps.2',
    step: { type: 'shell', command: 'echo edited' },
    by: 'ada',
  } as const;
  const times = [
    await heard(() => harness.say(handle, 'pause')),
    await heard(() => harness.say(handle, 'resume')),
    await heard(() => editRun(harness.client, handle, edit)),
  ];
  expect(Math.max(...times)).toBeLessThan(1_000);
  expect((await harness.state(handle)).current.map(({ key }) => key)).toEqual(['steps.1@1']);
  await harness.workflow(handle).cancel();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled' });
  const pid = Number(linesOf('told-pids')[0]);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(await finishedSteps(handle)).toEqual(['steps.0@1 ok', 'steps.1@1 cancelled']);
});

test('the first branch that fails ends those that a segment has begun beside it', async () => {
  const { handle, result } = await harness.run(
    once('fan', [
      {
        type: 'parallel',
        failFast: true,
        branches: [
          [shell('sleep 0.5; exit 3', { failOn: 'nonzero' })],
          [shell('echo $$ >> fan-pids; sleep 60')],
          [shell('true')],
        ],
      },
    ]),
  );
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'SHELL_EXIT_NONZERO' } });
  expect(existsSync(`/proc/${linesOf('fan-pids')[0] ?? ''}`)).toBe(false);
  expect((await finishedSteps(handle)).filter((line) => line.endsWith('cancelled'))).toEqual([
    'steps.0.branches.1.0@1 cancelled',
  ]);
});

test('a time limit around it ends it, and one of its own', async () => {
  const { result } = await harness.run(
    once('late', [
      {
        type: 'condition',
        check: 'true',
        then: [shell('echo $$ >> late-pids; sleep 60')],
        timeoutMs: 900,
        onError: 'skip',
      },
      shell('echo $$ >> late-pids; sleep 60', { timeoutMs: 700, onError: 'skip' }),
      shell('echo $$ >> late-pids; sleep 60', { timeoutMs: 100, onError: 'skip' }),
      shell('true', { outputTo: 'end' }),
    ]),
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { end: { exitCode: 0 } } });
  expect(linesOf('late-pids')).toHaveLength(3);
  for (const pid of linesOf('late-pids')) expect(existsSync(`/proc/${pid}`)).toBe(false);
});

const telling = (n: number) => shell(`echo ${n} >> forked; echo of-${n}`, { outputTo: `said${n}` });

test('another run begins right before a step of a segment, with what those before it came to', async () => {
  const { handle } = await harness.run(
    once(
      'forked',
      [0, 1, 2, 3].map((n) => telling(n)),
    ),
  );
  const { code, out } = await harness.command('fork', handle, '--at', 'steps.2@1', '--json', '--detach');
  expect(code).toBe(0);
  const fork = JSON.parse(out) as { handle: string; origin: { at: string } };
  expect(fork.origin.at).toBe('steps.2@1');
  expect(await harness.result(fork.handle)).toMatchObject({
    outcome: 'completed',
    outputs: { said1: { stdout: 'of-1\n' }, said3: { stdout: 'of-3\n' } },
  });
  expect(linesOf('forked')).toEqual(['0', '1', '2', '3', '2', '3']);
});
