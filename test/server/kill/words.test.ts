/** kill -9 of the worker while a command waits for a run that it has started, and for a process: both go on, and are there once. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { once } from '../harness/definitions.ts';
import { until, type Harness } from '../harness/harness.ts';
import { callsTo, ModelDouble, says } from '../harness/models/model-double.ts';
import { useHarnesses } from '../harness/opened.ts';
import { CREW, CREW_CONFIG } from '../systems/crew-project.ts';

const openHarness = useHarnesses();
let harness: Harness;
let model: ModelDouble;
let client: SentinelClient;
beforeAll(async () => {
  model = await new ModelDouble().open();
  harness = await openHarness();
  writeFileSync(join(harness.project, 'crew.ts'), CREW);
  writeFileSync(join(harness.project, 'sentinel.config.ts'), CREW_CONFIG);
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await model.close();
});

const worker = () => harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
const lines = (name: string): string[] =>
  existsSync(join(harness.project, name)) ? readFileSync(join(harness.project, name), 'utf8').trim().split('\n') : [];
const pids = (): number[] => [...new Set(lines('ticks').map(Number))];

test('the run is started, told and waited for once, the model is paid once, and its process goes on', async () => {
  model.next(
    callsTo('1', 'code_shell_execute', { command: 'touch begun; until [ -e go ]; do sleep 0.05; done' }),
    says('Wait for it.'),
    says('Advised.'),
  );
  let current = await worker();
  const handle = 'killed-crew';
  const step = { type: 'command', command: 'crew/slow', outputTo: 'done' } as const;
  await client.start(once('killed-crew', [{ ...step, params: { advised: true } }]), {
    handle,
    project: harness.project,
  });
  for (const attempts of [1, 2]) {
    await until(() => lines('attempts').length === attempts && pids().length > 0);
    await current.kill9();
    current = await worker();
    await until(() => lines('attempts').length === attempts + 1, 90_000);
    const from = lines('ticks').length;
    await until(() => lines('ticks').length > from + 5);
  }
  expect(pids()).toHaveLength(1);
  const started = await harness.store.runs.list({ startedBy: 'step', limit: 10 });
  expect(started).toHaveLength(1);
  expect(new Set(lines('attempts').map((line) => line.split(' ')[1]))).toEqual(new Set([started[0]?.handle]));
  writeFileSync(join(harness.project, 'go'), '');
  const { outcome, outputs } = await harness.result(handle);
  expect({ outcome, outputs }).toMatchObject({
    outcome: 'completed',
    outputs: { done: { text: 'Wait for it.', outcome: 'completed', output: 'ticked\n' } },
  });
  expect((outputs['done'] as { attempt: number }).attempt).toBeGreaterThan(2);
  const told = (await harness.events(started[0]?.handle ?? '')).filter(({ type }) => type === 'told');
  expect(told).toHaveLength(1);
  expect(model.turns.filter((turn) => JSON.stringify(turn).includes('What now?'))).toHaveLength(1);
});
