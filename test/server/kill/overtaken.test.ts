/**
 * A worker that stood still until another one had taken what it was at, and done it, does nothing late: what came after
 * it stays.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CrashPoint } from '../../../world/crash-points/catalogue.ts';
import { ARMED, type CrashPlan } from '../../../world/crash-points/armed-deaths.ts';
import type { Definition, Step } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

/** What it does late, it does by then. */
const LATE_MS = 5_000;

const write = (content: string): Step => ({
  type: 'command',
  command: 'code/write',
  params: { path: '$id.txt', content },
});
const line = (what: string, more: Parameters<typeof shell>[1] = {}): Step => shell(`echo ${what} >> $id.txt`, more);

const cases: readonly (readonly [CrashPoint, string, Definition, string])[] = [
  ['activity.begun', 'written', once('written', [write('first'), write('second')]), 'second'],
  [
    'activity.begun',
    'begun',
    once('begun', [line('first', { retry: { attempts: 2 } }), line('second')]),
    'first\nsecond\n',
  ],
  [
    'process.noted',
    'noted',
    once('noted', [line('first', { retry: { attempts: 2 } }), line('second')]),
    'first\nsecond\n',
  ],
  ['process.made', 'made', once('made', [line('first'), line('second')]), 'first\nsecond\n'],
  ['act.claimed', 'claimed', once('claimed', [line('first'), line('second')]), 'first\nsecond\n'],
];

test('what another worker has done is not done late', async () => {
  const record = join(harness.project, '..', 'passed');
  const stopped = async (point: CrashPoint, of: string): ReturnType<Harness['startWorker']> => {
    const plan: CrashPlan = { record, deaths: [{ point, nth: 1, of, do: 'stop' }] };
    return harness.startWorker({ [ARMED]: JSON.stringify(plan), SENTINEL_PROJECT: harness.project });
  };
  const isStill = (of: string): boolean =>
    existsSync(record) &&
    readFileSync(record, 'utf8')
      .split('\n')
      .some((at) => at.includes(of) && at.includes('dies'));
  const workers = [];
  for (const [point, id, definition] of cases) {
    workers.push(await stopped(point, id));
    await harness.start(definition, { handle: id, inputs: { id } });
    await until(() => isStill(id));
  }
  workers.push(await harness.startWorker({ SENTINEL_PROJECT: harness.project }));
  const wanted = cases.map(([, id, , becomes]) => [id, becomes]);
  const files = (): string[][] => cases.map(([, id]) => [id, readFileSync(join(harness.project, `${id}.txt`), 'utf8')]);
  for (const [, id] of cases) expect([id, await harness.result(id)]).toMatchObject([id, { outcome: 'completed' }]);
  expect(files()).toEqual(wanted);
  for (const still of workers) still.signal('SIGCONT');
  await sleep(LATE_MS);
  expect(files()).toEqual(wanted);
  await Promise.all(workers.map((worker) => worker.kill9()));
}, 300_000);
