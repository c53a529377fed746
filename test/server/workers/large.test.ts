/**
 * Much of everything: a shell that prints a gigabyte, values of many sizes, many passes, many runs at
 * once. Memory and history stay bounded.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { valueBytesMax } from '../../../language/limits.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const MIB = 1024 * 1024;

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

const read = (path: string, outputTo: string): ReturnType<typeof create> => ({
  type: 'command',
  command: 'code/read',
  params: { path },
  outputTo,
});

async function historyOf(handle: string): Promise<{ events: number; bytes: number }> {
  const { historyLength, historySize } = await harness.workflow(handle).describe();
  return { events: historyLength, bytes: historySize ?? 0 };
}

const file = (name: string, bytes: number): void => writeFileSync(join(harness.project, name), 'x'.repeat(bytes));

describe('values', () => {
  test.each([
    { name: '100 KB', bytes: 100_000 },
    { name: '5 MB', bytes: 5_000_000 },
  ])('$name pass between steps, and history stays small', async ({ bytes }) => {
    file('large', bytes);
    const { handle, result } = await harness.run(
      once('large', [
        read('large', 'read'),
        shell('wc -c', { stdin: '$read.content', outputTo: 'counted' }),
        { type: 'command', command: 'code/write', params: { path: 'copy', content: '$read.content' } },
        read('copy', 'copied'),
        {
          type: 'condition',
          check: '$copied.content === $read.content',
          then: [create('large', { same: true, bytes })],
        },
      ]),
    );
    expect(result.failure).toBeUndefined();
    expect((result.outputs['counted'] as { stdout: string }).stdout.trim()).toBe(String(bytes));
    expect(await harness.rows('large')).toContainEqual({ same: true, bytes });
    expect((await historyOf(handle)).bytes).toBeLessThan(100_000);
    expect((await harness.store.runs.find(handle))?.outputs?.['read']).toMatchObject({ $payload: expect.any(String) });
  });

  test('a value over the bound fails the step that made it', async () => {
    file('too-large', valueBytesMax + 1);
    const { result } = await harness.run(once('too-large', [read('too-large', 'read'), create('never', {})]));
    expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'VALUE_TOO_LARGE' } });
    expect(result.failure?.message).toContain('steps.0@1');
  });

  test('variables of a megabyte go through continue-as-new', async () => {
    file('megabyte', MIB);
    const definition = counted('carry', 4, [
      read('megabyte', 'read'),
      shell('wc -c', { stdin: '$read.content', outputTo: 'counted' }),
    ]);
    const { handle, result } = await harness.run(definition, { continueEvery: 1 });
    expect(result).toMatchObject({ outcome: 'completed', iterations: 4 });
    expect((result.outputs['counted'] as { stdout: string }).stdout.trim()).toBe(String(MIB));
    expect((await historyOf(handle)).bytes).toBeLessThan(100_000);
  });
});

test('a shell step that prints a gigabyte', async () => {
  const { handle, result } = await harness.run(
    once('chatty', [
      shell('yes "a line of the output" | head -c 1073741824; echo; echo the end', { outputTo: 'said' }),
      create('chatty', { exit: '$said.exitCode' }),
    ]),
  );
  expect(result.outcome).toBe('completed');
  expect(await harness.rows('chatty')).toEqual([{ exit: 0 }]);
  expect(worker.memory().peak).toBeLessThan(600 * MIB);
  const said = result.outputs['said'] as { stdout: string; truncated?: boolean };
  expect(said.truncated).toBe(true);
  expect(said.stdout).toContain('the end');
  const streams = await harness.store.logs.streams(handle);
  const kept = streams.reduce((sum, stream) => sum + stream.bytes, 0);
  expect(kept).toBeLessThan(4 * MIB);
  const lines = await harness.store.logs.tail(handle, { stream: 'stdout' }, 200_000);
  expect(lines.at(-1)?.text).toBe('the end');
  expect(lines.filter(({ text }) => /^… [\d,]{13} bytes dropped …$/.test(text))).toHaveLength(1);
});

test('3,000 passes of one quick command', async () => {
  const { handle, result } = await harness.run(counted('many', 3000, [create('many', { pass: '$iteration' })]));
  expect(result).toMatchObject({ outcome: 'completed', iterations: 3000 });
  expect((await harness.rows('many')).map((row) => row['pass'])).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
  expect((await historyOf(handle)).events).toBeLessThan(200);
});

test('50 runs at once', async () => {
  const steps = Array.from({ length: 10 }, (_, i) => create('crowd', { i }));
  const handles = await Promise.all(Array.from({ length: 50 }, () => harness.start(once('one-of-many', steps))));
  const results = await Promise.all(handles.map((handle) => harness.result(handle)));
  expect(results.every((result) => result.outcome === 'completed')).toBe(true);
  expect(await harness.rows('crowd')).toHaveLength(500);
});
