/** A proxy that the environment names leads out of this machine: a server on loopback is asked without it, by whatever spelling. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

let harness: Harness;
let asked = 0;
const proxy = createServer((socket) => {
  asked += 1;
  socket.destroy();
});
beforeAll(async () => {
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  harness = await Harness.open();
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  Object.assign(harness.variables, Object.fromEntries(names.map((name) => [name, address])));
  await harness.startWorker();
});
afterAll(async () => {
  await harness.close();
  proxy.close();
});

test('a worker, the command line and a run', async () => {
  const file = join(harness.project, 'proxied.json');
  writeFileSync(file, JSON.stringify(once('proxied', [shell('true')])));
  expect(await harness.command('run', file)).toMatchObject({ code: 0 });
  expect((await harness.command('status', '--last')).code).toBe(0);
  expect(asked).toBe(0);
}, 90_000);
