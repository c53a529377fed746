/** 500 runs started at once, on one worker. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create, once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

test('500 runs of 10 quick steps', { timeout: 600_000 }, async () => {
  const definition = once(
    'crowd',
    Array.from({ length: 10 }, (_, i) => create('crowd', { i })),
  );
  const handles = await Promise.all(Array.from({ length: 500 }, () => harness.start(definition)));
  const results = await Promise.all(handles.map((handle) => harness.result(handle)));
  expect(results.every((result) => result.outcome === 'completed')).toBe(true);
  expect(await harness.rows('crowd')).toHaveLength(5000);
});
