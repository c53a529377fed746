/** Worker versions: a run goes on with the version it began on, new runs start on the current one. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { CLI, Harness } from '../harness/harness.ts';
import { WorkerProcess } from '../harness/worker-process.ts';

const deployment = `test-${randomUUID()}`;
const started: WorkerProcess[] = [];
let harness: Harness;

beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(async () => {
  await Promise.all(started.map((worker) => worker.kill9()));
  await harness.close();
});

async function startVersion(buildId: string, ...options: string[]): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start(harness.env, [
    CLI,
    'worker',
    '--build-id',
    buildId,
    '--deployment',
    deployment,
    ...options,
  ]);
  started.push(worker);
  return worker;
}

/** Build ids of the workers that decided what the run does. */
async function buildsOf(handle: string): Promise<Set<string>> {
  const { events = [] } = await harness.history(handle);
  const found = events?.flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
    task ? [task.deploymentVersion?.buildId ?? 'none'] : [],
  );
  return new Set(found);
}

const waiting = (name: string): ReturnType<typeof once> =>
  once(name, [
    shell(`while [ ! -f go-${name} ]; do sleep 0.1; done; echo went`),
    shell('echo on', { outputTo: 'said' }),
  ]);

const go = (name: string): void => writeFileSync(join(harness.project, `go-${name}`), '');

test('a run stays with its version while another is current', async () => {
  const first = await startVersion('a');
  expect(first.output).toContain('"isCurrent":true');
  const before = await harness.start(waiting('before'));
  await harness.untilEvent(before, (event) => event.type === 'step-started');

  const second = await startVersion('b');
  expect(second.output).toContain('"isCurrent":false');
  expect(await buildsOf((await harness.run(once('still', [shell('true')]))).handle)).toEqual(new Set(['a']));
  await second.stop();

  const promoted = await startVersion('b', '--current');
  expect(promoted.output).toContain('"isCurrent":true');
  expect(await buildsOf((await harness.run(once('new', [shell('true')]))).handle)).toEqual(new Set(['b']));

  // Away and back: another process of the old version goes on with its runs, the current one does not take them.
  await first.stop();
  const again = await startVersion('a');
  expect(again.output).toContain('"isCurrent":false');
  go('before');
  expect((await harness.result(before)).outcome).toBe('completed');
  expect(await buildsOf(before)).toEqual(new Set(['a']));
});
