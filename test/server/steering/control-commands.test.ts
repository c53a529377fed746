/** Steps that control runs: others, the run around theirs, and their own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const control = (verb: string, params: { [name: string]: string } = {}): Step => ({
  type: 'command',
  command: `sentinel/${verb}`,
  params,
  outputTo: verb,
});
const isThere = (file: string): boolean => existsSync(join(harness.project, file));
const statusOf = async (handle: string) => (await harness.store.runs.find(handle))?.status;

test.concurrent('a run that pauses itself is held before its next step', async () => {
  const handle = await harness.start(
    once('holds-itself', [control('pause', { reason: 'enough' }), shell('touch went-on')]),
  );
  await until(async () => (await statusOf(handle)) === 'paused');
  await harness.untilEvent(
    handle,
    (event) => event.type === 'step-finished' && event.key === 'steps.0@1' && event.outcome === 'ok',
  );
  expect(isThere('went-on')).toBe(false);
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: { pause: { handle, status: 'paused', reason: 'enough', ending: false } },
  });
  expect(isThere('went-on')).toBe(true);
});

test.concurrent('a run that stops itself ends after the step, and cleans up', async () => {
  const definition = {
    ...once('stops-itself', [control('stop'), shell('touch not-this')]),
    always: [shell('touch cleaned')],
  };
  const handle = await harness.start(definition);
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'stopped',
    limit: 'stop',
    outputs: { stop: { handle, ending: true } },
  });
  expect([isThere('not-this'), isThere('cleaned')]).toEqual([false, true]);
});

test.concurrent('a run that cancels itself ends', async () => {
  const handle = await harness.start(once('cancels-itself', [control('cancel'), shell('touch nor-this')]));
  await until(async () => (await statusOf(handle)) === 'cancelled');
  expect(isThere('nor-this')).toBe(false);
});

test.concurrent('a nested run stops the run around it', async () => {
  const parent = 'run-around';
  // The stop reaches the child a moment later than its own step ends.
  const child = once('child', [control('stop', { handle: parent }), shell('sleep 2'), shell('touch child-went-on')]);
  await harness.start(once('parent', [{ type: 'sentinel', definition: child }, shell('touch parent-went-on')]), {
    handle: parent,
  });
  expect(await harness.result(parent)).toMatchObject({ outcome: 'stopped' });
  expect([isThere('child-went-on'), isThere('parent-went-on')]).toEqual([false, false]);
});

test.concurrent('a run holds, lets go on and ends another', async () => {
  const other = await harness.start(
    once('other', [shell('while [ ! -e gone-on ]; do sleep 0.1; done'), { type: 'approval', message: 'Wait' }]),
  );
  await harness.untilEvent(other, (event) => event.type === 'step-started');
  const steps = [
    control('pause', { handle: other }),
    control('resume', { handle: other }),
    shell('touch gone-on'),
    control('cancel', { handle: other }),
  ];
  const { result } = await harness.run(once('controls', steps));
  expect(result).toMatchObject({
    outcome: 'completed',
    outputs: { pause: { status: 'paused' }, resume: { status: 'running' }, cancel: { handle: other } },
  });
  await until(async () => (await statusOf(other)) === 'cancelled');
});
