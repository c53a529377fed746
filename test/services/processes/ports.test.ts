/** Choosing a port on the loopback address. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { accepts, choosePort, LOOPBACK } from '../../../services/processes/ports.ts';

test('a server that starts again keeps its port; one that another program has is passed over', async () => {
  const first = await choosePort([]);
  expect(await choosePort([null, first])).toBe(first);

  const server = createServer().listen(first, LOOPBACK);
  await once(server, 'listening');
  expect(await accepts({ host: LOOPBACK, port: first })).toBe(true);
  const second = await choosePort([first]);
  expect(second).not.toBe(first);
  expect(await choosePort([first, undefined, second])).toBe(second);
  expect(await choosePort([first, second], new Set([second]))).not.toBe(second);

  server.close();
  await once(server, 'close');
  expect(await choosePort([first])).toBe(first);
  expect(await accepts({ host: LOOPBACK, port: first })).toBe(false);
});
