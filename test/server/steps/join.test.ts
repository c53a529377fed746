/** Steps of type `join` on real services: by the stored ends of runs, before and after them, and over a continue-as-new. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const apart = (name: string, steps: Step[]): Step => ({
  type: 'sentinel',
  await: false,
  outputTo: name,
  definition: once(name, steps),
});

const both: Step[] = [
  apart('slow', [shell('sleep 2')]),
  apart('quick', [{ type: 'fail', message: 'nothing left', code: 'NOTHING_LEFT' }]),
];
const ended = [
  { name: 'slow', outcome: 'completed', success: true },
  { name: 'quick', outcome: 'failed', success: false, failure: { code: 'NOTHING_LEFT' } },
];

test('it waits for the ends of the runs, also of one that has ended before', async () => {
  const { handle, result } = await harness.run(
    once('joins', [
      ...both,
      { type: 'join', handles: ['$slow', '$quick'], outputTo: 'ended' },
      { type: 'join', handles: '$quick.handle', outputTo: 'again' },
    ]),
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { ended, again: [ended[1]] } });
  const handles = [`${handle}/steps.0@1`, `${handle}/steps.1@1`];
  expect(result.outputs['ended']).toMatchObject(handles.map((one) => ({ handle: one })));
  const later = await harness.run(once('joins-later', [{ type: 'join', handles: '$handles', outputTo: 'ended' }]), {
    inputs: { handles },
  });
  expect(later.result).toMatchObject({ outcome: 'completed', outputs: { ended } });
});

test('the run continues as new while it waits', async () => {
  const handle = await harness.start(
    once('joins-beside', [
      ...both,
      {
        type: 'parallel',
        branches: [
          [{ type: 'join', handles: ['$slow', '$quick'], outputTo: 'ended' }],
          Array.from({ length: 6 }, (_, n) => shell(`echo ${n}`)),
        ],
      },
    ]),
    { continueEvery: 2 },
  );
  const { runId: first } = await harness.workflow(handle).describe();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { ended } });
  expect((await harness.workflow(handle).describe()).runId).not.toBe(first);
});
