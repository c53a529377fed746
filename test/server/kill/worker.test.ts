/**
 * kill -9 of the worker, wherever it hurts: a new worker finishes the run with the result of an
 * undisturbed one; effects in our store happened exactly once, effects outside it at least once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { counted, create, list, once, shell } from '../harness/definitions.ts';
import { steady, until } from '../harness/harness.ts';
import { isAlive, useHarnesses } from '../harness/opened.ts';
import { randomFrom } from '../harness/random.ts';
import { shapeOf } from '../harness/trace-shape.ts';

const openHarness = useHarnesses();

/** The run of the same definition that nothing disturbs, in a database of its own. */
async function undisturbed(definition: Definition): Promise<{ outputs: unknown; shape: string[] }> {
  const harness = await openHarness();
  const worker = await harness.startWorker();
  const { result, events } = await harness.run(definition);
  await worker.stop();
  return { outputs: steady(result.outputs), shape: shapeOf(events) };
}

const linesOf = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);

test.concurrent('in a shell step: its process goes on, and the next worker takes it over', async () => {
  const definition = once('shell', [
    create('kept', { at: 'before' }),
    shell('echo $$ >> pids; sleep 3; echo done', { outputTo: 'said' }),
    create('kept', { at: 'after', said: '$said.stdout' }),
  ]);
  const expected = await undisturbed(definition);
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(definition);
  const pids = join(harness.project, 'pids');
  await until(() => linesOf(pids).length === 1);
  await first.kill9();
  const orphan = Number(linesOf(pids)[0]);
  expect(isAlive(orphan)).toBe(true);
  await harness.startWorker();
  const result = await harness.result(handle);
  expect(steady(result.outputs)).toEqual(expected.outputs);
  expect(shapeOf(await harness.events(handle))).toEqual(expected.shape);
  expect((await harness.rows('kept')).map((row) => row['at'])).toEqual(['before', 'after']);
  expect(linesOf(pids)).toHaveLength(1);
});

test.concurrent('in a parallel step of shells and quick writes', async () => {
  const definition = once('fan', [
    {
      type: 'parallel',
      branches: [
        [shell('echo a >> a; sleep 1; echo a', { outputTo: 'a' }), create('fan', { from: 'a' }, 'rowA')],
        [create('fan', { from: 'b' }), shell('sleep 2; echo b', { outputTo: 'b' })],
        Array.from({ length: 20 }, (_, i) => create('fan', { from: 'c', i })),
        [
          shell('true'),
          create('fan', { from: 'd' }),
          shell('sleep 1; echo d', { outputTo: 'd' }),
          create('fan', { from: 'd2' }),
        ],
      ],
    },
    list('fan', 'all'),
  ]);
  const expected = await undisturbed(definition);
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(definition);
  await until(() => existsSync(join(harness.project, 'a')));
  await sleep(200);
  await first.kill9();
  await harness.startWorker();
  const result = await harness.result(handle);
  const rows = (await harness.rows('fan')).map((row) => JSON.stringify([row['from'], row['i'] ?? null]));
  const written = [
    ['a', null],
    ['b', null],
    ['d', null],
    ['d2', null],
    ...Array.from({ length: 20 }, (_, i) => ['c', i]),
  ];
  expect(rows.toSorted()).toEqual(written.map((row) => JSON.stringify(row)).toSorted());
  expect(shapeOf(await harness.events(handle))).toEqual(expected.shape);
  expect(result.outcome).toBe('completed');
  expect(Object.keys(result.outputs).toSorted()).toEqual(Object.keys(expected.outputs as object).toSorted());
});

test.concurrent('in a nested child', async () => {
  const child = counted('child', 3, [
    create('child', { pass: '$iteration' }),
    shell('echo x >> passes; sleep 0.7; echo $iteration', { outputTo: 'last' }),
  ]);
  const definition = once('parent', [
    create('parent', { at: 1 }),
    { type: 'sentinel', definition: child, outputTo: 'nested' },
    create('parent', { at: 2, iterations: '$nested.iterations' }),
  ]);
  const expected = await undisturbed(definition);
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(definition);
  await until(() => linesOf(join(harness.project, 'passes')).length === 2);
  await first.kill9();
  await harness.startWorker();
  const result = await harness.result(handle);
  expect(steady(result.outputs)).toEqual(expected.outputs);
  expect(shapeOf(await harness.events(handle))).toEqual(expected.shape);
  expect(await harness.rows('child')).toEqual([{ pass: 1 }, { pass: 2 }, { pass: 3 }]);
  expect(await harness.rows('parent')).toEqual([{ at: 1 }, { at: 2, iterations: 3 }]);
  const childEvents = await harness.events(`${handle}/steps.1@1`);
  expect(childEvents.filter((event) => event.type === 'pass-finished')).toHaveLength(3);
  expect(childEvents.at(-1)?.type).toBe('run-finished');
});

test.concurrent.each([
  { passes: 500, durability: 'segment' as const, kills: 4, seed: 7 },
  { passes: 40, durability: 'step' as const, kills: 2, seed: 11 },
])('in a loop of $passes passes, durability $durability, $kills times', async ({ passes, durability, kills, seed }) => {
  const definition = counted(
    'loop',
    passes,
    [create('loop', { pass: '$iteration' }), { type: 'emit', event: 'turned', data: { pass: '$iteration' } }],
    { durability },
  );
  const random = randomFrom(seed);
  const harness = await openHarness();
  let worker = await harness.startWorker();
  const handle = await harness.start(definition);
  for (let kill = 0; kill < kills; kill += 1) {
    // A worker starts in one place, so that every kill meets work under way.
    const before = (await harness.rows('loop')).length;
    await until(
      async () =>
        (await harness.rows('loop')).length > before || (await harness.store.runs.find(handle))?.finishedAt !== null,
    );
    await sleep(random() * 60);
    await worker.kill9();
    worker = await harness.startWorker();
  }
  const result = await harness.result(handle);
  expect(result).toMatchObject({ outcome: 'completed', iterations: passes });
  const rows = await harness.rows('loop');
  expect(rows.map((row) => row['pass'])).toEqual(Array.from({ length: passes }, (_, i) => i + 1));
  const shape = shapeOf(await harness.events(handle));
  expect(shape).toEqual([
    'run-started',
    ...Array.from({ length: passes }, (_, i) => shapeOfPass(i + 1)).flat(),
    `run completed ${passes} `,
  ]);
});

function shapeOfPass(n: number): string[] {
  return [`steps.0@${n} command ok`, `steps.1@${n} emit ok`, `pass ${n}`];
}
