/** What the Temporal Web UI is told of a run, so that it alone says what the run is and is doing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { QUERIES } from '../../../workflows/messages/messages.ts';
import { counted, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

interface Metadata {
  currentDetails?: string;
}

const currentDetails = async (handle: string): Promise<string> =>
  (await harness.workflow(handle).query<Metadata>('__temporal_workflow_metadata')).currentDetails ?? '';

async function described(
  handle: string,
): Promise<{ memo: unknown; attributes: { [name: string]: unknown }; summary: string | undefined }> {
  const description = await harness.workflow(handle).describe();
  const { memo, typedSearchAttributes } = description;
  const attributes = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const);
  return {
    memo,
    attributes: Object.fromEntries(attributes.filter(([name]) => name.startsWith('Sentinel'))),
    summary: await description.staticSummary(),
  };
}

test('a run under way, its nested run, and both when they have ended', async () => {
  const child = once('child', [shell('while [ ! -e go ]; do sleep 0.1; done', { name: 'waiting for go' })]);
  const definition = counted('legible', 2, [shell('echo said'), { type: 'sentinel', definition: child }], {
    description: 'Says something, then waits',
  });
  const handle = await harness.start(definition, { handle: 'legible' });
  const nested = `${handle}/steps.1@1`;
  await harness.untilEvent(nested, (event) => event.type === 'step-started');
  expect(await described(handle)).toEqual({
    memo: { project: harness.project, description: 'Says something, then waits' },
    attributes: { SentinelName: 'legible', SentinelStatus: 'running', SentinelPersona: 'tester' },
    summary: 'legible: Says something, then waits',
  });
  expect(await described(nested)).toMatchObject({
    memo: { project: harness.project, parent: handle },
    attributes: { SentinelName: 'child', SentinelPersona: 'tester' },
  });
  expect(await currentDetails(handle)).toMatch(/^\*\*running\*\*, pass 1, \d+ steps\n\n- `steps\.1@1` child/);
  // A segment has begun the step, and its run goes on with it a moment later.
  await expect.poll(() => currentDetails(nested)).toMatch(/- `steps\.0@1` waiting for go/);
  await harness.say(handle, 'pause');
  expect(await currentDetails(handle)).toMatch(/^\*\*paused\*\* \(the test says so\)/);
  expect((await described(handle)).attributes).toMatchObject({ SentinelStatus: 'paused' });
  await harness.say(handle, 'resume');
  await harness.run(once('opens', [shell('touch go')]));
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  const events = await harness.workflow(handle).query<RunEvent[]>(QUERIES.trace);
  expect(events.at(-1)).toMatchObject({ type: 'run-finished', outcome: 'completed' });
  expect(await currentDetails(handle)).toMatch(/^\*\*completed\*\*, pass 2/);
  expect((await described(handle)).attributes).toMatchObject({ SentinelStatus: 'completed', SentinelIteration: 2 });
});
