/**
 * What reaches nested runs, and when: after they were let go, and while the run that started them is about
 * to continue as new.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { firstPosition, type Position } from '../../../interpreter/position.ts';
import { QUERIES, SIGNALS, workflowIdOf, WORKFLOW_TYPE } from '../../../workflows/messages/messages.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const position = (handle: string): Promise<Position> => harness.workflow(handle).query<Position>(QUERIES.position);

const hasEnded = async (handle: string): Promise<boolean> =>
  typeof (await harness.store.runs.find(handle))?.finishedAt === 'number';

test.concurrent('a nested run that nobody awaits is forgotten when it has ended', async () => {
  const left: Definition['steps'] = Array.from({ length: 3 }, (_, n) => ({
    type: 'sentinel',
    definition: once(`left-${n}`, [create('left', { n })]),
    await: false,
  }));
  const handle = await harness.start(once('lets-go', [...left, { type: 'approval', message: 'All ended?' }]));
  await until(async () => (await harness.rows('left')).length === 3);
  await until(async () => (await position(handle)).detached.length === 0, 10_000);
  await harness.say(handle, 'stop');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped' });
});

test.concurrent('of the runs that nobody awaits the newest thousand are remembered', async () => {
  const handle = 'many-left-alone';
  const definition = once('lets-go', [
    { type: 'sentinel', definition: once('sleeper', [shell('sleep 20')]), await: false },
    { type: 'approval', message: 'Wait' },
  ]);
  await harness.store.runs.create({
    handle,
    name: 'lets-go',
    definitionHash: '',
    project: harness.project,
    persona: 'tester',
    parent: null,
    inputs: {},
    startedAt: Date.now(),
  });
  const before = Array.from({ length: 1000 }, (_, n) => `gone/${n}`);
  await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue: harness.taskQueue,
    args: [
      { definition, project: harness.project, persona: 'tester' },
      { ...firstPosition(Date.now()), detached: before },
    ],
  });
  await until(async () => (await position(handle)).questions.length === 1);
  expect((await position(handle)).detached).toEqual([...before.slice(1), `${handle}/steps.0@1`]);
  await harness.workflow(handle).terminate();
  await harness.workflow(`${handle}/steps.0@1`).cancel();
});

test.concurrent('a cancellation ends a run that has begun to continue as new', async () => {
  const quick = { type: 'emit' as const, event: 'turned' };
  const handle = await harness.start(
    once('yields', [
      {
        type: 'parallel',
        branches: [
          [quick, quick, quick],
          [{ type: 'loop', loop: { type: 'continuous', intervalMs: 4000, max: 2 }, steps: [quick] }],
        ],
      },
      shell('echo on', { outputTo: 'said' }),
    ]),
    { continueEvery: 1 },
  );
  // One branch wants to continue as new, and waits for the other, which rests.
  await until(async () => (await harness.state(handle)).steps >= 2);
  await sleep(300);
  await harness.workflow(handle).cancel();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled', status: 'cancelled' });
});

test.concurrent('what a segment has ended is not shown as under way', async () => {
  const handle = await harness.start(
    once('shown', [{ type: 'loop', loop: { type: 'count', max: 2 }, steps: [create('shown', {})] }, shell('sleep 2')]),
  );
  await harness.untilEvent(handle, (event) => event.type === 'step-started' && event.key === 'steps.1@1');
  // A segment has begun the step, and its run goes on with it a moment later.
  const current = async () => (await harness.state(handle)).current.map(({ key }) => key);
  await until(async () => (await current()).length > 0);
  expect(await current()).toEqual(['steps.1@1']);
  await harness.result(handle);
});

test.concurrent('a run that a branch let go is left alone when another branch fails', async () => {
  const letGo: Step = {
    type: 'sentinel',
    definition: once('let-go', [shell('sleep 3'), create('let-go', { ended: true })]),
    await: false,
  };
  const fails: Step[] = [shell('sleep 1'), { type: 'command', command: 'code/read', params: { path: 'no-such-file' } }];
  const handle = await harness.start(
    once('fails-fast', [
      { type: 'parallel', failFast: true, onError: 'skip', branches: [[letGo], fails, [shell('sleep 60')]] },
      shell('true'),
    ]),
  );
  await until(() => hasEnded(handle), 30_000);
  await until(() => hasEnded(`${handle}/steps.0.branches.0.0@1`), 30_000);
  expect(await harness.rows('let-go')).toHaveLength(1);
});

test.concurrent('of two words that a parent said the later one holds, in whichever order they arrive', async () => {
  const handle = await harness.start(once('heard', [shell('sleep 1'), shell('true')]));
  await harness.workflow(handle).signal(SIGNALS.control, 'resume', 2);
  await harness.workflow(handle).signal(SIGNALS.control, 'pause', 1);
  await until(() => hasEnded(handle), 20_000);
});

test('what is said to a run just after one of its nested runs ended is replayed as it was first done', async () => {
  // Without a cache every workflow task replays from the start, as it does when a worker takes over.
  const uncached = await Harness.open();
  try {
    await uncached.startWorker({ SENTINEL_MAX_CACHED_WORKFLOWS: '0' });
    const ends: Step = { type: 'sentinel', definition: once('ends', [shell('true')]) };
    const stays: Step = { type: 'sentinel', definition: once('stays', [{ type: 'approval', message: 'Go on?' }]) };
    const handle = await uncached.start(
      once('told', [{ type: 'parallel', branches: [[ends], [stays]] }, shell('true')]),
    );
    await until(
      async () => typeof (await uncached.store.runs.find(`${handle}/steps.0.branches.0.0@1`))?.finishedAt === 'number',
    );
    await until(async () => (await uncached.store.inbox.list({})).length === 1);
    await sleep(500);
    await uncached.say(handle, 'pause');
    await uncached.say(handle, 'resume');
    await uncached.say(handle, 'stop');
    expect(await uncached.result(handle)).toMatchObject({ outcome: 'stopped' });
  } finally {
    await uncached.close();
  }
}, 60_000);
