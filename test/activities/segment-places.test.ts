/** Segments of two attempts of a run, which gave out the numbers for their events in another order. */
import { expect, test } from 'vitest';
import type { SegmentResult } from '../../interpreter/contract.ts';
import type { QuickSteps } from '../../activities/segment/quick-steps.ts';
import { ERRORS_MAX } from '../../activities/steps/failures.ts';
import { runSegment } from '../../activities/segment/run-segment.ts';
import { PART_SIZE } from '../../language/events/event-numbers.ts';
import { PlaceTaken } from '../../prisma/store/contract/journal-conflict.ts';
import { runInputOf } from '../../workflows/messages/start-input.ts';
import { create, once } from '../server/harness/definitions.ts';
import { useStore } from '../store/harness/opened.ts';
import { catalogue } from '../catalogue.ts';
import { segmentRequest } from './harness/segment-request.ts';

const opened = useStore();
const definition = once('places', [create('places', { n: 1 }), create('places', { n: 2 })]);
const handle = 'two-attempts';

const answers: QuickSteps['perform'] = (_input, _session, { key }) => Promise.resolve({ ok: true, value: { key } });

const throws = () => Promise.reject(new TypeError('x is not a function'));

function segment(key: string, attempt: number, perform = answers, of = handle): Promise<SegmentResult> {
  const input = runInputOf({ definition, catalogue, project: '/', persona: 'ada' }, of, 0);
  return runSegment(
    {
      store: opened.store,
      quick: { perform },
      recorded: () => Promise.resolve(),
    },
    input,
    segmentRequest(input, key),
    { attempt },
  );
}

const partsTaken = async (): Promise<number[]> => [
  ...new Set((await opened.store.events.after(handle, -1)).map(({ seq }) => Math.floor((seq - 1) / PART_SIZE))),
];

test('none writes over what another committed, and each is done once', async () => {
  await segment('steps.0@1', 1);
  const { length } = await opened.store.events.after(handle, -1);
  expect(length).toBeGreaterThan(1);
  await expect(segment('steps.1@1', 1)).rejects.toThrow(PlaceTaken);
  await segment('steps.1@1', 2);
  expect(await partsTaken()).toEqual([1, 2]);
  for (const attempt of [1, 2, 3, 4])
    expect(await segment('steps.0@1', attempt)).toMatchObject({ steps: 2, flow: { kind: 'done' } });
  expect(await opened.store.events.after(handle, -1)).toHaveLength(2 * length);
  await segment('steps.2@1', 3);
  for (const attempt of [1, 2, 3, 4]) await expect(segment('steps.3@1', attempt)).rejects.toThrow(PlaceTaken);
  // There is no other place, and the run has to go on.
  await segment('steps.3@1', 31);
  expect(await partsTaken()).toEqual([1, 2, 3]);
  expect(await opened.store.events.after(handle, -1)).toHaveLength(3 * length);
});

test('a command that throws again and again what is no failure fails its step, and the segment is committed', async () => {
  // Attempts that their workers took with them have thrown nothing.
  for (let count = 1; count < ERRORS_MAX; count += 1)
    await expect(segment('steps.0@1', ERRORS_MAX + count, throws, 'throwing')).rejects.toThrow('x is not a function');
  const { flow } = await segment('steps.0@1', 2 * ERRORS_MAX, throws, 'throwing');
  expect(flow).toMatchObject({ kind: 'failed', failure: { code: 'ACTIVITY_FAILED' } });
  const ends = (await opened.store.events.after('throwing', -1)).filter(({ type }) => type === 'step-finished');
  expect(ends.at(-1)).toMatchObject({ failure: { message: expect.stringContaining('x is not a function') as string } });
});
