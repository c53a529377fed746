/** A worker whose core fails ends, so that its supervisor starts another: it takes no task any more, however long it lives. */
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorker } from '../../../worker/worker.ts';
import { Harness, sharedAddresses, until } from '../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
});
afterAll(() => harness.close());

test('a worker whose core fails ends by itself', { timeout: 120_000 }, async () => {
  const { client, store, taskQueue } = harness;
  const bundle = await bundleWorkflowCode({
    workflowsPath: join(import.meta.dirname, 'failing-workflow.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  const connection = await NativeConnection.connect({ address: sharedAddresses().temporalAddress });
  try {
    const worker = await startWorker({
      store,
      connection,
      namespace: 'default',
      keys: harness.keys,
      taskQueues: [taskQueue],
      bundle,
    });
    const ended = worker.done.then(
      () => 'well',
      () => 'with an error',
    );
    const run = await client.workflow.start('sentinel', { taskQueue, workflowId: 'failing-worker' });
    await until(async () => (await run.describe()).historyLength > 3);
    await client.withDeadline(Date.now() + 5_000, () => run.query('status')).catch(() => undefined);
    expect(await ended).toBe('with an error');
    await run.terminate();
  } finally {
    // The worker that failed may still hold it.
    await connection.close().catch(() => undefined);
  }
});
