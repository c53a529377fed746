/** Pause, resume, stop and cancel of runs under way, and how far they reach. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIdOf } from '../../../workflows/messages/messages.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/messages/search-attributes.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { isAlive as isThere } from '../harness/opened.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const pidIn = (name: string): number | null => {
  const path = join(harness.project, name);
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) || null : null;
};

const isAlive = (pid: number | null): boolean => pid !== null && isThere(pid);

async function untilChild(handle: string): Promise<void> {
  await until(async () => (await harness.store.runs.find(handle)) !== null);
}

const statusOf = async (handle: string): Promise<unknown> => {
  const description = await harness.client.workflow.getHandle(workflowIdOf(handle)).describe();
  return description.typedSearchAttributes.get(SEARCH_ATTRIBUTES.status);
};

/** Writes its process id into a file of its own name, and sleeps. */
const sleeper = (name: string): ReturnType<typeof once> => once(name, [shell(`echo $$ > ${name}; sleep 300`)]);

const endless = (name: string): ReturnType<typeof counted> =>
  counted(name, 1_000_000, [{ type: 'command', command: 'data/read', params: { collection: 'none' }, outputTo: 'it' }]);

test.concurrent('a loop of quick steps pauses within 2 s, resumes, and stops', async () => {
  const handle = await harness.start(endless('endless'));
  await until(async () => (await harness.events(handle)).length > 500);
  const askedAt = Date.now();
  expect(await harness.say(handle, 'pause')).toMatchObject({ status: 'paused', reason: 'the test says so' });
  expect(Date.now() - askedAt).toBeLessThan(2500);
  await harness.say(handle, 'pause');
  const held = (await harness.state(handle)).steps;
  expect(await statusOf(handle)).toEqual('paused');
  await until(async () => (await harness.store.runs.find(handle))?.status === 'paused');
  await sleep(1000);
  const { steps } = await harness.state(handle);
  // The segment that was under way when the update came may still have ended.
  expect(steps - held).toBeLessThanOrEqual(200);
  await sleep(1000);
  expect((await harness.state(handle)).steps).toBe(steps);
  expect(await harness.say(handle, 'resume')).toMatchObject({ status: 'running' });
  await harness.say(handle, 'resume');
  await until(async () => (await harness.state(handle)).steps > steps);
  await Promise.all([harness.say(handle, 'stop'), harness.say(handle, 'stop').catch(() => undefined)]);
  const result = await harness.result(handle);
  expect(result).toMatchObject({ outcome: 'stopped', status: 'cancelled', limit: 'stop' });
  const events = await harness.events(handle);
  expect(events.filter((event) => event.type === 'paused')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'resumed')).toHaveLength(1);
  expect(events.at(-1)?.type).toBe('run-finished');
  expect(await statusOf(handle)).toEqual('cancelled');
  expect(await harness.store.runs.find(handle)).toMatchObject({
    status: 'cancelled',
    outcome: 'stopped',
    limit: 'stop',
  });
  await expect(harness.say(handle, 'pause')).rejects.toThrow();
});

test.concurrent('a stop lets the step under way end and begins no other', async () => {
  const handle = await harness.start(
    once('stop', [shell('touch begun; sleep 1.5; echo whole', { outputTo: 'said' }), create('after-stop', {})]),
  );
  await until(() => existsSync(join(harness.project, 'begun')));
  await harness.say(handle, 'stop');
  const result = await harness.result(handle);
  expect(result).toMatchObject({ outcome: 'stopped', outputs: { said: { stdout: 'whole\n' } } });
  expect(await harness.rows('after-stop')).toEqual([]);
});

test.concurrent('a cancellation ends a process group that ignores SIGTERM', async () => {
  const handle = await harness.start(
    once('deaf', [
      shell(
        `trap '' TERM; sh -c "trap '' TERM; echo \\$\\$ > grandchild; while :; do sleep 0.2; done" & echo $$ > deaf; while :; do sleep 0.2; done`,
      ),
    ]),
  );
  await until(() => pidIn('deaf') !== null && pidIn('grandchild') !== null);
  expect(isAlive(pidIn('deaf'))).toBe(true);
  await harness.workflow(handle).cancel();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled', status: 'cancelled' });
  expect(isAlive(pidIn('deaf'))).toBe(false);
  expect(isAlive(pidIn('grandchild'))).toBe(false);
  expect((await harness.workflow(handle).describe()).status.name).toBe('CANCELLED');
  expect(await harness.store.runs.find(handle)).toMatchObject({ status: 'cancelled', outcome: 'cancelled' });
  const last = (await harness.events(handle)).filter((event) => event.type === 'step-finished').at(-1);
  expect(last).toMatchObject({ key: 'steps.0@1', outcome: 'cancelled' });
});

test.concurrent('a cancellation reaches nested runs, awaited and not', async () => {
  const handle = await harness.start(
    once('family', [
      { type: 'sentinel', definition: sleeper('detached'), await: false },
      { type: 'sentinel', definition: sleeper('awaited') },
    ]),
  );
  await until(() => pidIn('detached') !== null && pidIn('awaited') !== null);
  await harness.workflow(handle).cancel();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'cancelled' });
  for (const child of [`${handle}/steps.0@1`, `${handle}/steps.1@1`]) {
    expect(await harness.result(child)).toMatchObject({ outcome: 'cancelled' });
    expect(await harness.store.runs.find(child)).toMatchObject({ status: 'cancelled' });
  }
  expect(isAlive(pidIn('detached'))).toBe(false);
  expect(isAlive(pidIn('awaited'))).toBe(false);
});

test.concurrent('a nested run that is cancelled by itself fails its step, and onError decides', async () => {
  const handle = await harness.start(
    once('survivor', [
      { type: 'sentinel', definition: once('victim', [shell('sleep 300')]), onError: 'skip' },
      shell('echo on', { outputTo: 'said' }),
    ]),
  );
  const child = `${handle}/steps.0@1`;
  await harness.untilEvent(child, (event) => event.type === 'step-started');
  await harness.workflow(child).cancel();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { said: { stdout: 'on\n' } } });
  const skipped = (await harness.events(handle)).find((event) => event.type === 'step-finished');
  expect(skipped).toMatchObject({ outcome: 'skipped', failure: { code: 'CHILD_FAILED' } });
});

test.concurrent('pause, resume and stop reach nested runs', async () => {
  const handle = await harness.start(
    once('cascade', [
      {
        type: 'sentinel',
        definition: once('inner', [{ type: 'sentinel', definition: endless('innermost') }, shell('true')]),
      },
      shell('true'),
    ]),
  );
  const child = `${handle}/steps.0@1`;
  const grandchild = `${child}/steps.0@1`;
  await untilChild(grandchild);
  await harness.say(handle, 'pause');
  for (const nested of [child, grandchild]) await until(async () => (await harness.state(nested)).status === 'paused');
  await harness.say(handle, 'resume');
  for (const nested of [child, grandchild]) await until(async () => (await harness.state(nested)).status === 'running');
  await harness.say(handle, 'stop');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'stopped' });
  for (const nested of [child, grandchild])
    expect(await harness.result(nested)).toMatchObject({ outcome: 'stopped', limit: 'stop' });
});
