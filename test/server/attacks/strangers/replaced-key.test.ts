/** A key that is replaced while a run is under way: the run goes on, and what it says from then on takes the new one. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateRun } from '../../../../runs/steer-run.ts';
import { sealedClient } from '../../../../runs/temporal-connection.ts';
import { keysIn, newKeyText } from '../../../../services/config/seal-key.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('a run that began with the key before goes on, and takes messages sealed with either', async () => {
  const before = await harness.store.sealKey(newKeyText());
  const after = newKeyText();
  const worker = await harness.startWorker();
  const begun = join(harness.project, 'begun');
  const handle = await harness.start(
    once('rotated', [shell('touch begun; while [ ! -e go ]; do sleep 0.1; done'), shell('touch ended')]),
  );
  await until(() => existsSync(begun));
  await updateRun(harness.client, handle, 'pause', 'before');
  await worker.stop();
  await harness.startWorker({ SENTINEL_KEY: `${after},${before}` });
  const { client, store } = harness;
  const { connection } = client;
  const of = (keys: string): typeof client =>
    sealedClient({ connection, namespace: 'default', store, keys: keysIn(keys) });
  // Who has only the new one is obeyed by a run that began before there was one.
  await updateRun(of(after), handle, 'resume');
  await updateRun(of(before), handle, 'pause', 'again').catch(() => undefined);
  expect((await store.runs.find(handle))?.status).toBe('paused');
  expect(await updateRun(of(`${after},${before}`), handle, 'resume')).toMatchObject({ status: 'running' });
  writeFileSync(join(harness.project, 'go'), '');
  await until(async () => (await store.runs.find(handle))?.outcome === 'completed');
  expect(existsSync(join(harness.project, 'ended'))).toBe(true);
});
