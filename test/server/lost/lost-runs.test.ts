/** Runs that were ended from outside end in the store as well, with those nested in them and what they asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import type { Asked } from '../../../language/events/run-event.ts';
import { contentHash } from '../../../prisma/store/values/content-hash.ts';
import { workflowIdOf, WORKFLOW_TYPE } from '../../../workflows/messages/messages.ts';
import type { StartInput } from '../../../workflows/messages/start-input.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const hasEnded = async (handle: string): Promise<boolean> =>
  (await harness.store.runs.find(handle))?.finishedAt !== null;

/** What the run asked first. */
async function firstQuestion(handle: string): Promise<Asked> {
  const asked = (await harness.events(handle)).find((event) => event.type === 'asked');
  if (asked === undefined) throw new Error(`${handle} has asked nothing`);
  return asked;
}

test.concurrent('a run that was terminated has failed, its nested runs too, and nobody is asked any more', async () => {
  const child = once('child', [{ type: 'approval', message: 'Ship it?' }]);
  const handle = await harness.start(once('parent', [{ type: 'sentinel', definition: child }]));
  const goesOn = await harness.start(once('goes-on', [shell('while [ ! -e go ]; do sleep 0.1; done')]));
  const nested = `${handle}/steps.0@1`;
  await until(async () => (await harness.store.inbox.list({ handle: nested })).length === 1);
  // More than a list of the inbox holds.
  const asked = await firstQuestion(nested);
  const more = Array.from({ length: 1_100 }, (_, nth) => ({
    ...asked,
    seq: 1_000_000 + nth,
    question: { ...asked.question, id: `more-${nth}` },
  }));
  await harness.store.events.append(nested, more);
  await harness.workflow(handle).terminate('by hand');
  await until(async () => (await hasEnded(handle)) && (await hasEnded(nested)), 60_000);
  const failure = {
    code: 'RUN_LOST',
    message: expect.stringMatching(/was terminated from outside \(by hand\)/) as string,
  };
  expect(await harness.store.runs.find(handle)).toMatchObject({ status: 'failed', outcome: 'failed', failure });
  expect(await harness.store.inbox.open(nested)).toEqual([]);
  const events = await harness.events(nested);
  expect(
    events.slice(-3).map((event) => [event.type, event.key, 'outcome' in event ? event.outcome : ''].join(' ')),
  ).toEqual(['withdrawn steps.0@1 ', 'step-finished steps.0@1 cancelled', 'run-finished  failed']);
  await harness.run(once('opens', [shell('touch go')]));
  expect(await harness.result(goesOn)).toMatchObject({ outcome: 'completed' });
  expect(await harness.store.runs.find(goesOn)).toMatchObject({ status: 'completed' });
});

test.concurrent('a run that ran into a time limit of Temporal has failed, and nobody is asked any more', async () => {
  const handle = 'timed-out';
  const definition: Definition = once('waits', [{ type: 'approval', message: 'Ship it?' }]);
  const start: StartInput = {
    definition,
    definitionHash: contentHash(definition),
    project: harness.project,
    persona: 'tester',
  };
  await harness.client.workflow.start(WORKFLOW_TYPE, {
    workflowId: workflowIdOf(handle),
    taskQueue: harness.taskQueue,
    args: [start],
    workflowRunTimeout: '4s',
  });
  await until(async () => (await harness.store.inbox.list({ handle })).length === 1);
  expect(await hasEnded(handle)).toBe(false);
  await until(() => hasEnded(handle), 60_000);
  const failure = {
    code: 'RUN_LOST',
    message: expect.stringMatching(/timed-out ran into a time limit of Temporal, .*fork it/) as string,
  };
  expect(await harness.store.runs.find(handle)).toMatchObject({ status: 'failed', outcome: 'failed', failure });
  expect(await harness.store.inbox.open(handle)).toEqual([]);
  const ends = (await harness.events(handle)).slice(-3).map((event) => `${event.type} ${event.key}`);
  expect(ends).toEqual(['withdrawn steps.0@1', 'step-finished steps.0@1', 'run-finished ']);
});
