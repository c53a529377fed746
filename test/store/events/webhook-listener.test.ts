/** Whose listener it is that has the port of webhooks: ours proves it, and everybody else is named. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebhookSettings } from '../../../services/config/worker-settings.ts';
import { awaitListener, findListener } from '../../../services/webhooks/webhook-listener.ts';
import { Webhooks } from '../../../worker/triggers/webhooks.ts';
import { freePort } from '../../postgres.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();
let settings: WebhookSettings;
let webhooks: Webhooks;
let installation: string;

beforeAll(async () => {
  settings = { host: '127.0.0.1', port: await freePort(), secrets: ['a secret of some length', 'and one before it'] };
  webhooks = new Webhooks(settings, opened.store, () => undefined);
  installation = await opened.store.installation();
  await awaitListener(settings, installation);
});
afterAll(() => webhooks.close());

async function ask(path: string, options: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`http://127.0.0.1:${settings.port}${path}`, options);
  return { status: answer.status, body: await answer.json() };
}

/** A server that is not ours; null: it takes connections and never answers. */
async function stranger(answer: string | null): Promise<{ port: number; close: () => Promise<void> }> {
  const server: Server = createServer((_request, response) => {
    if (answer !== null) response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  return {
    port: typeof at === 'object' && at !== null ? at.port : 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('that it lives is said to everybody', async () => {
  expect(await ask('/health')).toEqual({ status: 200, body: { ok: true } });
  expect(await ask('/health?nonce=1')).toMatchObject({ status: 400 });
  expect(await ask('/health', { method: 'POST' })).toMatchObject({ status: 405 });
});

test('whose it is is proved to whoever knows the secret and the installation', async () => {
  expect(
    await findListener({ ...settings, secrets: ['a new one, not told yet', ...settings.secrets] }, installation),
  ).toEqual({ is: 'ours' });
  const strangers = [
    findListener(settings, '8c7a0f0e-0000-4000-8000-000000000000'),
    findListener({ ...settings, secrets: ['another secret, as long'] }, installation),
  ];
  for (const found of await Promise.all(strangers))
    expect(found).toMatchObject({ is: 'stranger', holder: { pid: process.pid } });
  expect(await findListener({ ...settings, port: await freePort() }, installation)).toEqual({ is: 'nobody' });
});

test('a proof is the signature of no message', async () => {
  const nonce = '0'.repeat(32);
  const { body } = await ask(`/health?nonce=${nonce}`);
  const { proof } = body as { proof: string };
  expect(proof).toMatch(/^[\da-f]{64}$/);
  const headers = {
    'content-type': 'application/json',
    'x-sentinel-signature': `t=${Math.floor(Date.now() / 1000)},v1=${proof}`,
  };
  expect(await ask(`/events/${nonce}`, { method: 'POST', headers, body: '' })).toMatchObject({ status: 401 });
});

test.each([
  ['that says of itself that all is well', '{"ok": true, "proof": true}'],
  ['that answers with no JSON', '<html>'],
  ['that answers without end', 'x'.repeat(1_000_000)],
  ['that says nothing', null],
])('a stranger %s is told, with its process', async (_title, answer) => {
  const { port, close } = await stranger(answer);
  const found = await findListener({ ...settings, port }, installation);
  await close();
  expect(found).toEqual({
    is: 'stranger',
    holder: { pid: process.pid, program: expect.stringContaining('node') as string },
  });
});

test('a worker whose port a stranger has says whose it is, once', { timeout: 30_000 }, async () => {
  const { port, close } = await stranger('{}');
  const heard: string[] = [];
  const waiting = new Webhooks({ ...settings, port }, opened.store, (text) => heard.push(text));
  await expect.poll(() => heard, { timeout: 10_000 }).toHaveLength(1);
  expect(heard[0]).toMatch(
    new RegExp(
      `^webhooks are not received: port ${port} of 127.0.0.1 is held by pid ${process.pid} \\(.*node.*\\), which`,
    ),
  );
  await close();
  await expect
    .poll(() => findListener({ ...settings, port }, installation), { timeout: 10_000 })
    .toEqual({ is: 'ours' });
  expect(heard).toHaveLength(1);
  await waiting.close();
});
