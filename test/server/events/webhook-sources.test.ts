/** A push of GitHub as it arrives at a worker: one run for it, whatever its size, and the command line that sets it up. */
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../postgres.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

const SECRET = 'a secret of GitHub, for this test';
let harness: Harness;
let port: number;

beforeAll(async () => {
  harness = await Harness.open();
  port = await freePort();
  writeFileSync(
    join(harness.project, 'sentinel.config.mjs'),
    `export default { webhooks: {
      github: { secret: { env: 'HOOK_OF_GITHUB' } },
      'unset-one': { kind: 'slack', secret: { env: 'HOOK_OF_NOBODY' } },
    } };\n`,
  );
  harness.variables = {
    HOOK_OF_GITHUB: SECRET,
    SENTINEL_WEBHOOK_PORT: String(port),
    SENTINEL_PROJECT: harness.project,
  };
  const worker = await harness.startWorker();
  expect(worker.output).toContain('the webhook source "unset-one" receives nothing: HOOK_OF_NOBODY is not set');
  await until(async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.status === 200);
});
afterAll(() => harness.close());

async function push(data: object, id = randomUUID()): Promise<{ status: number }> {
  const body = JSON.stringify(data);
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/github`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
  });
  await answer.text();
  return { status: answer.status };
}

async function register(name: string, event: string): Promise<void> {
  const file = join(harness.project, `${name}.json`);
  const steps = [
    create(name, {
      ref: '{{event.ref}}',
      from: '{{event.origin.id}}',
      type: '{{event.origin.type}}',
      payload: '{{event.payload.id}}',
      name: '{{event.name}}',
    }),
  ];
  writeFileSync(file, JSON.stringify(once(name, steps, { trigger: { type: 'event', event } })));
  expect(await harness.command('trigger', 'add', file)).toMatchObject({ code: 0 });
}

test('a push starts one run, by its name and by a glob, however often GitHub delivers it', async () => {
  await register('hook-exact', 'github:push');
  await register('hook-glob', 'github:*');
  await register('hook-other', 'stripe:*');
  const id = randomUUID();
  expect(await push({ ref: 'refs/heads/main', after: id }, id)).toMatchObject({ status: 202 });
  expect(await push({ ref: 'refs/heads/main', after: id }, id)).toMatchObject({ status: 200 });
  await until(async () => (await harness.rows('hook-exact')).length === 1);
  await until(async () => (await harness.rows('hook-glob')).length === 1);
  expect((await harness.rows('hook-exact'))[0]).toMatchObject({
    ref: 'refs/heads/main',
    from: 'github',
    type: 'webhook',
    name: 'github:push',
  });
  expect(await harness.rows('hook-other')).toEqual([]);
});

test('a push of 25 MiB is stored whole within the time of GitHub; the run sees its small parts and where the rest is', async () => {
  await register('hook-large', 'github:push');
  const line = 'x'.repeat(1000);
  const commits = Array.from({ length: 25_000 }, (_, n) => ({ id: String(n), message: line }));
  const data = { ref: 'refs/heads/large', commits, number: 1 };
  const body = JSON.stringify(data);
  expect(body.length).toBeGreaterThan(24 * 1024 * 1024);
  expect(body.length).toBeLessThan(25 * 1024 * 1024 + 1);
  // Whoever asks meanwhile is answered: the event loop of the worker is free.
  const answered = { isUnderWay: true, count: 0 };
  const asking = (async () => {
    while (answered.isUnderWay) {
      await fetch(`http://127.0.0.1:${port}/health`).then((answer) => answer.text());
      answered.count += 1;
    }
  })();
  // In time: else the worker answers with 503.
  expect((await push(data)).status).toBe(202);
  answered.isUnderWay = false;
  await asking;
  expect(answered.count).toBeGreaterThan(1);
  await until(async () => (await harness.rows('hook-large')).length === 1);
  const [row] = await harness.rows('hook-large');
  expect(row).toMatchObject({ ref: 'refs/heads/large' });
  const shown = await harness.command('webhook', 'body', (row as { payload: string }).payload);
  expect(shown.code).toBe(0);
  expect(shown.out).toBe(`${body}\n`);
  expect((await harness.command('webhook', 'body', '0'.repeat(64))).code).toBe(4);
}, 120_000);

test('a body that is larger, or signed by somebody else, starts nothing', async () => {
  await register('hook-refused', 'github:push');
  const large = { text: 'x'.repeat(25 * 1024 * 1024) };
  const answer = await push(large).catch(() => null);
  if (answer !== null) expect(answer.status).toBe(413);
  const body = JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) });
  const forged = await fetch(`http://127.0.0.1:${port}/hooks/github`, {
    method: 'POST',
    body,
    headers: {
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', 'another secret').update(body).digest('hex')}`,
    },
  });
  expect(forged.status).toBe(401);
  expect(await push({ ref: 'refs/heads/after' })).toMatchObject({ status: 202 });
  await until(async () => (await harness.rows('hook-refused')).length > 0);
  expect(await harness.rows('hook-refused')).toMatchObject([{ ref: 'refs/heads/after' }]);
});

test('the command line lists the sources, proves one, and publishes an event through it', async () => {
  const list = await harness.command('webhook', 'list', '--json');
  const entry = { name: 'github', kind: 'github', address: `http://127.0.0.1:${port}/hooks/github`, fault: null };
  expect(JSON.parse(list.out)).toMatchObject([
    { ...entry, events: 'github:*', variables: ['HOOK_OF_GITHUB'] },
    { name: 'unset-one', fault: expect.stringContaining('HOOK_OF_NOBODY') as string },
  ]);
  expect(list.out).not.toContain(SECRET);
  expect((await harness.command('webhook', 'list', '--show-secret')).out).toContain(SECRET);
  const proof = await harness.command('webhook', 'test', 'github', '--json');
  expect(proof.code).toBe(0);
  expect(JSON.parse(proof.out)).toMatchObject({
    ok: true,
    status: 200,
    curl: expect.stringMatching(/^curl -i -H /) as string,
  });
  await register('hook-tested', 'github:release');
  const sent = await harness.command('webhook', 'test', 'github', '--event', 'release', '--data', '{"ref": "v1"}');
  expect(sent).toMatchObject({ code: 0, out: expect.stringContaining('Accepted with 202') as string });
  await until(async () => (await harness.rows('hook-tested')).length === 1);
  harness.variables['HOOK_OF_GITHUB'] = 'another secret than the worker has';
  const refused = await harness.command('webhook', 'test', 'github');
  harness.variables['HOOK_OF_GITHUB'] = SECRET;
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('WEBHOOK_SIGNATURE_INVALID') as string });
  expect(await harness.command('webhook', 'test', 'unset-one')).toMatchObject({ code: 2 });
  expect(await harness.command('webhook', 'test', 'gitub')).toMatchObject({
    code: 2,
    err: expect.stringContaining('write "github"') as string,
  });
});

test('adding a source prints the configuration, a new secret and the address, and writes nothing', async () => {
  const added = await harness.command(
    'webhook',
    'add',
    'shop',
    '--kind',
    'stripe',
    '--url',
    'https://in.example.org/',
    '--json',
  );
  expect(JSON.parse(added.out)).toMatchObject({
    kind: 'stripe',
    address: 'https://in.example.org/hooks/shop',
    variable: 'SHOP_WEBHOOK_SECRET',
    secret: null,
    config: `webhooks: { shop: { kind: 'stripe', secret: { env: 'SHOP_WEBHOOK_SECRET' } } }`,
  });
  const gitlab = await harness.command('webhook', 'add', 'gitlab', '--json');
  expect(JSON.parse(gitlab.out)).toMatchObject({ secret: expect.stringMatching(/^[\da-f]{64}$/) as string });
  expect((await harness.command('webhook', 'add', 'github')).code).toBe(2);
  expect((await harness.command('webhook', 'add', 'shop')).code).toBe(2);
  expect((await harness.command('webhook', 'add', 'chat', '--kind', 'token')).code).toBe(2);
});
