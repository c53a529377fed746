/** Webhooks over real HTTP: what is signed and JSON becomes an event once, everything else is refused, by every worker. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPLAY_MAX_S, signatureHeader } from '../../../worker/triggers/signature.ts';
import { BODY_BYTES_MAX, Webhooks } from '../../../worker/triggers/webhooks.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { freePort } from '../../postgres.ts';
import { useStore } from '../harness/opened.ts';
import { spread } from '../harness/triggered.ts';
import { defined } from '../../../language/defined.ts';

const opened = useStore();
const SECRET = 'a secret of some length';
const OLD_SECRET = 'the one before this one';
const SECRETS: [string, string] = [SECRET, OLD_SECRET];
let webhooks: Webhooks;
let port: number;
let triggerId: string;
const said: string[] = [];

beforeAll(async () => {
  port = await freePort();
  const { triggers } = opened.store;
  triggerId = (
    await triggers.add({
      name: 't',
      event: '**',
      definitionHash: 'h',
      project: '/p',
      persona: 'ada',
      inputs: {},
      taskQueue: 'q',
    })
  ).trigger.id;
  webhooks = new Webhooks({ host: '127.0.0.1', port, secrets: SECRETS }, opened.store, (text) => said.push(text));
  await until(async () => (await send({ path: '/' }).catch(() => null)) !== null);
});
afterAll(() => webhooks.close());

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; !(await holds()); turn += 1) {
    if (turn > 200) throw new Error('in vain');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

interface Sent {
  path?: string;
  method?: string;
  body?: string | Buffer;
  secret?: string;
  at?: number;
  headers?: Record<string, string>;
  id?: string;
  /** What was signed, where it is not what is sent. */
  signed?: { id?: string; name?: string; body?: string };
  toPort?: number;
}

/** The name of the event that a path sends. */
function nameIn(path: string): string {
  try {
    return decodeURIComponent(path.replace(/^\/events\//, ''));
  } catch {
    return path;
  }
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const now = (): number => Math.floor(Date.now() / 1000);

function send({
  path = '/events/deploy:done',
  method = 'POST',
  body = '{"version": "1"}',
  secret = SECRET,
  at = now(),
  headers = {},
  id,
  signed = {},
  toPort = port,
}: Sent): Promise<{ status: number; answer: Record<string, unknown> }> {
  const message = {
    id: signed.id ?? id ?? '',
    name: signed.name ?? nameIn(path),
    body: Buffer.from(signed.body ?? body),
  };
  const all = {
    'content-type': 'application/json',
    'x-sentinel-signature': signatureHeader(secret, at, message),
    ...defined({ 'x-event-id': id }),
    ...headers,
  };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  return new Promise((resolve, reject) => {
    const sending = request({ host: '127.0.0.1', port: toPort, path, method, headers: kept }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, answer: JSON.parse(text) as Record<string, unknown> }),
      );
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

async function published(name: string): Promise<unknown[]> {
  while ((await spread(opened.store)) > 0);
  return (await opened.store.triggers.starts(triggerId, 1000))
    .filter(({ event }) => event.name === name)
    .map(({ event }) => event.data);
}

test('a signed event is stored before it is answered, with its data', async () => {
  const { status, answer } = await send({ path: '/events/ticket%3Aclosed', body: '{"id": 17}' });
  expect(status).toBe(202);
  expect(answer).toMatchObject({ ok: true, isNew: true });
  expect(await published('ticket:closed')).toEqual([{ id: 17 }]);
});

test('the same message again is the same event, with an id and without', async () => {
  const sent = { id: 'delivery-1', body: '1' };
  expect(await send(sent)).toMatchObject({ status: 202, answer: { id: 'delivery-1', isNew: true } });
  expect(await send({ ...sent, at: now() - 9 })).toMatchObject({ status: 200, answer: { isNew: false } });
  const at = now() - 5;
  expect(await send({ at, path: '/events/a' })).toMatchObject({ status: 202 });
  expect(await send({ at, path: '/events/a' })).toMatchObject({ status: 200 });
  expect(await published('a')).toHaveLength(1);
});

const hasTools = ['openssl', 'curl'].every((tool) => spawnSync(tool, ['version']).error === undefined);

test.runIf(hasTools)('what docs/triggers.md has people type is taken', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'triggers.md'), 'utf8');
  const [typed = ''] = /^ {4}id=delivery-17;[^]*?\n(?=\n)/m.exec(page) ?? [];
  const child = spawn('bash', ['-c', typed.replace('127.0.0.1:7246', `127.0.0.1:${port}`)], {
    env: { ...process.env, SENTINEL_WEBHOOK_SECRET: SECRET },
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  await once(child, 'close');
  expect(JSON.parse(out)).toEqual({ ok: true, id: 'delivery-17', isNew: true });
});

describe('an overheard message', () => {
  const changes: [string, Sent][] = [
    ['of another name', { path: '/events/other', signed: { name: 'b' } }],
    ['under another id', { id: 'two', path: '/events/b', signed: { id: 'one' } }],
    ['without its id', { path: '/events/b', signed: { id: 'one' } }],
    ['with an id that it had not', { id: 'one', path: '/events/b', signed: { id: '' } }],
    ['with another body', { path: '/events/b', body: '2', signed: { body: '1' } }],
    ['whose name takes from its body', { path: '/events/x.1', body: '2', signed: { name: 'x', body: '1.2' } }],
    ['whose id takes from its time', { id: `d.${now()}`, path: '/events/b', signed: { id: 'd' } }],
    ['whose name holds a line end', { path: '/events/b%0A1', body: '1', signed: { name: 'b', body: '1\n1' } }],
  ];
  test.each(changes)('is not taken for one %s', async (_title, sent) => {
    const { status } = await send(sent);
    expect([400, 401]).toContain(status);
  });

  test('that two secrets had signed is one message, whichever of them is kept', async () => {
    const message = { id: '', name: 'twice', body: Buffer.from('1') };
    const at = now() - 3;
    const headers = SECRETS.map((secret) => signatureHeader(secret, at, message));
    for (const [header, status] of [
      [headers.map((text) => text.split(',')[1]).join(','), 202],
      ['', 200],
    ] as const) {
      const signature = header === '' ? (headers[1] ?? '') : `t=${at},${header}`;
      expect(
        await send({ path: '/events/twice', body: '1', headers: { 'x-sentinel-signature': signature } }),
      ).toMatchObject({ status });
    }
  });
});

describe('an id that was used', () => {
  const first: Sent = { id: 'order-17', path: '/events/order:paid', body: '{"sum": 1}' };
  const others: [string, Sent][] = [
    ['another body', { ...first, body: '{"sum": 1000}' }],
    ['another event', { ...first, path: '/events/order:refunded' }],
    ['the same values in another spelling', { ...first, body: '{"sum":1}' }],
  ];

  test.each(others)('is refused for %s', async (_title, sent) => {
    expect([200, 202]).toContain((await send(first)).status);
    expect(await send(sent)).toMatchObject({
      status: 409,
      answer: { error: expect.stringMatching(/"order-17" was used for another message/) as string },
    });
    expect(await published('order:paid')).toEqual([{ sum: 1 }]);
    expect(await published('order:refunded')).toEqual([]);
  });

  test('is known to every other worker, and after a restart', async () => {
    await send(first);
    const own = await freePort();
    const other = new Webhooks({ host: '127.0.0.1', port: own, secrets: SECRETS }, opened.store, (text) =>
      said.push(text),
    );
    await until(async () => (await send({ toPort: own, path: '/' }).catch(() => null)) !== null);
    expect(await send({ ...first, toPort: own })).toMatchObject({ status: 200, answer: { isNew: false } });
    for (const [, sent] of others) expect(await send({ ...sent, toPort: own })).toMatchObject({ status: 409 });
    await other.close();
  });

  test('by many at once is used once', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) => String(n % 3));
    const answers = await Promise.all(bodies.map((body) => send({ id: 'race', path: '/events/race', body })));
    const counted = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect([counted(202), counted(200), counted(409)]).toEqual([1, 3, 8]);
    expect(await published('race')).toHaveLength(1);
  });
});

test('a secret that is being replaced is still valid', async () => {
  expect(await send({ secret: OLD_SECRET, path: '/events/old' })).toMatchObject({ status: 202 });
});

test('an empty body is an event without data', async () => {
  expect(await send({ body: '', path: '/events/empty' })).toMatchObject({ status: 202 });
  expect(await published('empty')).toEqual([null]);
});

describe('refused', () => {
  const cases: { title: string; sent: Sent; status: number; says: RegExp }[] = [
    {
      title: 'without a signature',
      sent: { headers: { 'x-sentinel-signature': '' } },
      status: 401,
      says: /is missing/,
    },
    {
      title: 'with a signature of another form',
      sent: { headers: { 'x-sentinel-signature': 'sha256=abc' } },
      status: 401,
      says: /not of the form/,
    },
    {
      title: 'signed with another secret',
      sent: { secret: 'another secret, as long' },
      status: 401,
      says: /does not fit/,
    },
    {
      title: 'signed too long ago',
      sent: { at: now() - REPLAY_MAX_S - 5 },
      status: 401,
      says: /more than 300 seconds/,
    },
    {
      title: 'signed in the future',
      sent: { at: now() + REPLAY_MAX_S + 600 },
      status: 401,
      says: /more than 300 seconds/,
    },
    { title: 'that is no JSON', sent: { body: '{' }, status: 400, says: /is not JSON/ },
    {
      title: 'of another type',
      sent: { headers: { 'content-type': 'text/plain' } },
      status: 415,
      says: /application\/json/,
    },
    {
      title: 'that is too large',
      sent: { body: JSON.stringify('x'.repeat(BODY_BYTES_MAX)) },
      status: 413,
      says: /at most/,
    },
    { title: 'with GET', sent: { method: 'GET', body: '' }, status: 405, says: /POST/ },
    { title: 'to another path', sent: { path: '/other' }, status: 404, says: /POST \/events\/NAME/ },
    {
      title: 'with a name that is too long',
      sent: { path: `/events/${'x'.repeat(501)}` },
      status: 400,
      says: /1 to 500 bytes/,
    },
    { title: 'with a name that is no text', sent: { path: '/events/%ff' }, status: 400, says: /part of a URL/ },
    { title: 'with a name of two lines', sent: { path: '/events/a%0Ab' }, status: 400, says: /no control characters/ },
    { title: 'with an id of two words', sent: { id: 'a b' }, status: 400, says: /X-Event-Id has 1 to 200/ },
    {
      title: 'with an id that is too long',
      sent: { id: 'x'.repeat(201) },
      status: 400,
      says: /X-Event-Id has 1 to 200/,
    },
    {
      title: 'in the name of a run',
      sent: { path: '/events/sentinel:nightly:status' },
      status: 403,
      says: /the runs themselves/,
    },
    {
      title: 'in the name of a run with a line end in its handle',
      sent: { path: '/events/sentinel:a%0Ab:status' },
      status: 400,
      says: /no control characters/,
    },
    {
      title: 'in the name of a run, in letters that look alike',
      sent: { path: `/events/${encodeURIComponent('sеntinel:finished:deploy')}` },
      status: 403,
      says: /the runs themselves/,
    },
    { title: 'nested too deeply', sent: { body: deep(3_000) }, status: 422, says: /deeper than 499 levels/ },
    { title: 'nested beyond all sense', sent: { body: deep(60_000) }, status: 422, says: /deeper than 499 levels/ },
    { title: 'that is no UTF-8', sent: { body: Buffer.from([0x22, 0xff, 0x22]) }, status: 400, says: /UTF-8/ },
  ];

  test.each(cases)('$title', async ({ sent, status, says }) => {
    const found = await send(sent);
    expect(found.status).toBe(status);
    expect(found.answer).toEqual({ ok: false, error: expect.stringMatching(says) as string });
  });

  test('and leave nothing behind', async () => {
    expect(await published('sentinel:nightly:status')).toEqual([]);
  });
});

test('a body as deep as a run can read is taken', async () => {
  expect(await send({ body: deep(499), path: '/events/deep' })).toMatchObject({ status: 202 });
});

test('what the store refuses for good is not to be sent again', async () => {
  await opened.database.query(
    `alter table published_events add constraint no_secrets check (name <> 'unspeakable') not valid`,
  );
  const found = await send({ path: '/events/unspeakable' });
  expect(found).toMatchObject({ status: 422, answer: { error: expect.stringMatching(/no_secrets/) as string } });
  expect(said.splice(0)).toEqual([expect.stringMatching(/^a webhook was not stored: .*no_secrets/)]);
});

test('while the store is away the message is to be sent again, and then it is taken', { timeout: 20_000 }, async () => {
  const own = await freePort();
  const away = openStore({ url: `postgres://postgres@127.0.0.1:${await freePort()}/postgres` });
  const settings = { host: '127.0.0.1', port: own, secrets: [SECRET] as [string] };
  const first = new Webhooks(settings, away, () => undefined);
  await until(async () => (await send({ toPort: own, path: '/' }).catch(() => null)) !== null);
  const at = now();
  expect(await send({ toPort: own, path: '/events/again', at })).toMatchObject({
    status: 503,
    answer: { error: expect.stringMatching(/send it again/) as string },
  });
  await first.close();
  await away.close();
  const second = new Webhooks(settings, opened.store, () => undefined);
  await until(async () => (await send({ toPort: own, path: '/' }).catch(() => null)) !== null);
  expect(await send({ toPort: own, path: '/events/again', at })).toMatchObject({ status: 202 });
  await second.close();
});

test('a body of the largest size is taken', async () => {
  expect(await send({ body: JSON.stringify('x'.repeat(BODY_BYTES_MAX - 2)), path: '/events/large' })).toMatchObject({
    status: 202,
  });
});

test('another server on the machine takes over when the first ends', { timeout: 20_000 }, async () => {
  const own = await freePort();
  const settings = { host: '127.0.0.1', port: own, secrets: [SECRET] as [string] };
  const first = new Webhooks(settings, opened.store, (text) => said.push(text));
  await until(async () => (await send({ toPort: own, path: '/' }).catch(() => null)) !== null);
  const second = new Webhooks(settings, opened.store, (text) => said.push(text));
  await first.close();
  await expect
    .poll(async () => (await send({ toPort: own, path: '/events/after' }).catch(() => null))?.status, {
      timeout: 10_000,
    })
    .toBe(202);
  await second.close();
  expect(said).toEqual([]);
});
