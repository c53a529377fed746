/** A client that waits for the end of a run, while the worker that recorded the end is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SentinelClient } from '../../../client/package/client.ts';
import { finished, started, useStore } from '../harness/opened.ts';

const opened = useStore();

test('the result is that of the end which stays', async () => {
  const { store, database } = opened;
  const handle = 'taken-back';
  await store.events.append(handle, [started(0), finished(9)]);
  const client = new SentinelClient({
    startsServices: false,
    env: { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
  });
  onTestFinished(() => client.close());
  const status = client.status.bind(client);
  // Right after the client has seen the end, and before it looks what it was.
  vi.spyOn(client, 'status').mockImplementationOnce(async (of) => {
    expect(await store.events.takeBack(handle, 9, 1)).toBe(true);
    void sleep(300).then(() => store.events.append(handle, [finished(9)]));
    return status(of);
  });
  expect(await client.result(handle)).toMatchObject({ status: 'completed', outcome: 'completed' });
});
