// Steps one after the other or side by side as a Restate service, each a durable step of Restate. The server is that of
// the package, a process of its own with its data in the folder of the benchmark.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { serve } from './serve.mjs';
import { perform } from './steps.mjs';

// The SDK asks for it, and Node.js 20 has none.
Promise.withResolvers ??= () => {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
};

const { resolve } = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'));
const program = resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const steps = restate.service({
  name: 'steps',
  handlers: {
    perform: async (ctx, { kind, shape, count }) => {
      const step = (index) => ctx.run(kind, () => perform[kind](index));
      if (shape === 'fan') await restate.RestatePromise.all(Array.from({ length: count }, (_, index) => step(index)));
      else for (let index = 0; index < count; index += 1) await step(index);
    },
  },
});

const [node, admin, ingress, service] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
const server = spawn(
  program,
  ['--no-logo', '--log-filter', 'error,octocrab=off', '--listen-mode', 'tcp', '--bind-port', String(node)],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: join(process.env.BENCH_FOLDER, 'restate'),
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
    },
  },
);
process.once('exit', () => server.kill('SIGKILL'));
server.once('exit', (code) => {
  process.stderr.write(`the server of Restate ended with ${code}\n`);
  process.exit(1);
});
await restate.serve({ services: [steps], port: service, logger: () => undefined });

const deadline = Date.now() + 60_000;
for (;;) {
  const registered = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
  }).catch((error) => error);
  if (registered.ok) break;
  if (Date.now() > deadline)
    throw new Error(`Restate did not start: ${registered.message ?? (await registered.text())}`);
  await sleep(200);
}
const client = clients.connect({ url: `http://127.0.0.1:${ingress}` }).serviceClient(steps);
serve((work) => client.perform(work.steps));
