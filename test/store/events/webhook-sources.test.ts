/**
 * Messages as their senders send them, over real HTTP into a real store: each kind is taken, once, and refused with
 * another secret, at another time, with a changed byte, and again under another id.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookSources, type WebhooksConfig } from '../../../services/config/webhook-config.ts';
import { awaitListener } from '../../../services/webhooks/webhook-listener.ts';
import { Webhooks } from '../../../worker/triggers/webhooks.ts';
import { freePort } from '../../postgres.ts';
import { useStore } from '../harness/opened.ts';

const opened = useStore();
const SECRETS = {
  github: "It's a Secret to Everybody",
  gitlab: 'a token that GitLab sends',
  'gitlab-signed': 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  stripe: 'whsec_test_secret_of_an_endpoint',
  slack: '8f742231b10e8888abcd99yyyzzz85a5',
  resend: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  grafana: 'a token of sixteen or more',
};
const CONFIG: WebhooksConfig = {
  github: { secret: ['the secret that comes next', SECRETS.github] },
  gitlab: { secret: { env: 'GITLAB_TOKEN' } },
  'gitlab-signed': { kind: 'gitlab', secret: SECRETS['gitlab-signed'] },
  stripe: { secret: SECRETS.stripe },
  slack: { secret: SECRETS.slack },
  resend: { kind: 'standard', secret: SECRETS.resend },
  grafana: { kind: 'token', secret: SECRETS.grafana },
  closed: { kind: 'github', secret: { env: 'NOT_SET_ANYWHERE' } },
};
const sources = webhookSources(CONFIG, { GITLAB_TOKEN: SECRETS.gitlab });
let webhooks: Webhooks;
let port: number;

beforeAll(async () => {
  port = await freePort();
  const listener = { host: '127.0.0.1', port, secrets: [] };
  webhooks = new Webhooks(listener, opened.store, () => undefined, { sources });
  const secrets = sources.flatMap((source) => source.secrets);
  expect(await awaitListener({ ...listener, secrets }, await opened.store.installation())).toEqual({ is: 'ours' });
});
afterAll(() => webhooks.close());

interface Sent {
  headers: Record<string, string>;
  body: string;
}

async function send(source: string, { headers, body }: Sent): Promise<{ status: number; text: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/hooks/${source}`, { method: 'POST', headers, body });
  return { status: answer.status, text: await answer.text() };
}

const now = (): number => Math.floor(Date.now() / 1000);
const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const json = { 'content-type': 'application/json' };

interface Options {
  secret?: string;
  at?: number;
  id?: string;
}

/** Requests as the documentation of each sender describes them, with node:crypto alone. */
const REQUESTS: Record<string, { event: string; make: (options: Options) => Sent }> = {
  github: {
    event: 'github:push',
    make({ secret = SECRETS.github, id = randomUUID() }) {
      const body = JSON.stringify({ ref: 'refs/heads/main', after: id });
      const signature = `sha256=${hex(secret, body)}`;
      return {
        headers: { ...json, 'x-github-event': 'push', 'x-github-delivery': id, 'x-hub-signature-256': signature },
        body,
      };
    },
  },
  gitlab: {
    event: 'gitlab:merge_request',
    make({ secret = SECRETS.gitlab, id = randomUUID() }) {
      return {
        headers: { ...json, 'x-gitlab-event': 'Merge Request Hook', 'idempotency-key': id, 'x-gitlab-token': secret },
        body: JSON.stringify({ object_kind: 'merge_request', object_attributes: { iid: 1 } }),
      };
    },
  },
  'gitlab-signed': { event: 'gitlab-signed:push', make: (options) => standard({ object_kind: 'push' }, options) },
  stripe: {
    event: 'stripe:invoice.paid',
    make({ secret = SECRETS.stripe, at = now(), id = randomUUID() }) {
      const body = JSON.stringify({ id: `evt_${id}`, type: 'invoice.paid', data: { object: { total: 1 } } });
      const signature = `t=${at},v1=${hex(secret, `${at}.${body}`)},v0=${'0'.repeat(64)}`;
      return { headers: { ...json, 'stripe-signature': signature }, body };
    },
  },
  slack: {
    event: 'slack:app_mention',
    make({ secret = SECRETS.slack, at = now(), id = randomUUID() }) {
      const body = JSON.stringify({ type: 'event_callback', event_id: id, event: { type: 'app_mention', text: 'hi' } });
      return {
        headers: {
          ...json,
          'x-slack-request-timestamp': String(at),
          'x-slack-signature': `v0=${hex(secret, `v0:${at}:${body}`)}`,
        },
        body,
      };
    },
  },
  resend: { event: 'resend:email.sent', make: (options) => standard({ type: 'email.sent' }, options) },
  grafana: {
    event: 'grafana:alert',
    make({ secret = SECRETS.grafana, id = randomUUID() }) {
      return {
        headers: { ...json, authorization: `Bearer ${secret}`, 'x-event-id': id },
        body: '{"event": "alert", "state": "firing"}',
      };
    },
  },
};

function standard(data: object, { secret = SECRETS.resend, at = now(), id = randomUUID() }: Options): Sent {
  const body = JSON.stringify(data);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return {
    headers: { ...json, 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` },
    body,
  };
}

function made(source: string, options: Options = {}): Sent {
  const request = REQUESTS[source];
  if (request === undefined) throw new Error(`no request of ${source}`);
  return request.make(options);
}

interface Stored {
  handle: string;
  name: string;
  data: unknown;
}

const stored = (id: string): Promise<Stored[]> =>
  opened.database.query<Stored>(`select handle, name, data from published_events where key like '%' || $1`, [id]);

const OTHER_SECRET: Record<string, string> = {
  'gitlab-signed': 'whsec_AAKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  resend: 'whsec_AAKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};

describe.each(Object.entries(REQUESTS))('%s', (source, { event, make }) => {
  test('a message becomes one event, however often it is delivered', async () => {
    const id = randomUUID();
    const first = await send(source, make({ id }));
    expect([200, 202]).toContain(first.status);
    // A sender signs again what it sends again.
    expect((await send(source, make({ id, at: now() - 2 }))).status).toBe(200);
    const events = await stored(id);
    expect(events).toMatchObject([{ handle: `@webhook:${source}`, name: event }]);
    expect(events[0]?.data).toEqual(JSON.parse(make({ id }).body));
  });

  test('another secret is refused, and so is none', async () => {
    const id = randomUUID();
    const answer = await send(source, make({ id, secret: OTHER_SECRET[source] ?? 'another secret, as long' }));
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('WEBHOOK_SIGNATURE_INVALID');
    const bare = await send(source, { headers: json, body: make({ id }).body });
    expect(bare.status).toBe(401);
    expect(bare.text).toContain('WEBHOOK_SIGNATURE_MISSING');
    expect(await stored(id)).toEqual([]);
  });

  test.skipIf(['gitlab', 'grafana'].includes(source))('a changed byte is refused', async () => {
    const id = randomUUID();
    const { headers, body } = make({ id });
    const answer = await send(source, { headers, body: body.replace(/"}?$|}$/, (end) => ` ${end}`) });
    expect(answer).toMatchObject({ status: 401, text: expect.stringContaining('WEBHOOK_SIGNATURE_INVALID') as string });
    expect(await stored(id)).toEqual([]);
    expect([200, 202]).toContain((await send(source, { headers, body })).status);
  });

  test.skipIf(['github', 'gitlab', 'grafana'].includes(source))('an old time is refused, and one to come', async () => {
    for (const at of [now() - 400, now() + 400]) {
      const id = randomUUID();
      const answer = await send(source, make({ id, at }));
      expect(answer).toMatchObject({ status: 401, text: expect.stringContaining('WEBHOOK_TIME_INVALID') as string });
      expect(await stored(id)).toEqual([]);
    }
    expect([200, 202]).toContain((await send(source, make({ at: now() - 200 }))).status);
  });
});

test('a body of GitHub is taken once, under whichever id it is sent again, also a week later', async () => {
  const { headers, body } = made('github');
  expect((await send('github', { headers, body })).status).toBe(202);
  const replay = { headers: { ...headers, 'x-github-delivery': randomUUID() }, body };
  expect(await send('github', replay)).toMatchObject({
    status: 409,
    text: expect.stringContaining('WEBHOOK_REPLAYED') as string,
  });
  expect((await send('github', { headers: { ...replay.headers, 'x-github-event': 'star' }, body })).status).toBe(409);
  await opened.database.query(`update webhook_messages set expires_at = expires_at - interval '7 days'`, []);
  expect((await send('github', replay)).status).toBe(409);
  expect((await send('github', { headers, body })).status).toBe(200);
});

test('an id of a source is no id of another, nor of the common secret', async () => {
  const id = randomUUID();
  expect((await send('grafana', made('grafana', { id }))).status).toBe(202);
  expect((await send('gitlab', made('gitlab', { id }))).status).toBe(202);
  expect(await opened.store.webhooks.receive({ id, name: 'a', data: 1, digest: 'd' })).toBe('new');
});

test('an event of Stripe is the same when it is sent again with other words around it', async () => {
  const id = randomUUID();
  const again = (pending: number): Sent => {
    const body = JSON.stringify({ id, type: 'invoice.paid', pending_webhooks: pending });
    return {
      headers: { ...json, 'stripe-signature': `t=${now()},v1=${hex(SECRETS.stripe, `${now()}.${body}`)}` },
      body,
    };
  };
  expect((await send('stripe', again(2))).status).toBe(202);
  expect((await send('stripe', again(1))).status).toBe(200);
  expect(await stored(id)).toHaveLength(1);
});

const slack = (body: string, type = 'application/json'): Sent => ({
  headers: {
    'content-type': type,
    'x-slack-request-timestamp': String(now()),
    'x-slack-signature': `v0=${hex(SECRETS.slack, `v0:${now()}:${body}`)}`,
  },
  body,
});

describe('handshakes', () => {
  test('Slack asks for the address, and is given its challenge', async () => {
    const body =
      '{"token": "x", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", "type": "url_verification"}';
    expect(await send('slack', slack(body))).toEqual({
      status: 200,
      text: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}\n',
    });
    const { headers } = slack(body);
    expect((await send('slack', { headers, body: body.replace('"x"', '"y"') })).status).toBe(401);
  });

  test('a command and an action of Slack come as a form, and are answered with nothing that people would see', async () => {
    const command = `command=%2Fdeploy&text=now&trigger_id=${randomUUID()}`;
    expect(await send('slack', slack(command, 'application/x-www-form-urlencoded'))).toEqual({ status: 200, text: '' });
    const action = `payload=${encodeURIComponent(JSON.stringify({ type: 'block_actions', trigger_id: randomUUID() }))}`;
    expect((await send('slack', slack(action, 'application/x-www-form-urlencoded'))).status).toBe(200);
    const names = await opened.database.query(
      `select name, data->>'text' as text from published_events where name in ('slack:command', 'slack:block_actions') order by seq`,
      [],
    );
    expect(names).toEqual([
      { name: 'slack:command', text: 'now' },
      { name: 'slack:block_actions', text: null },
    ]);
  });

  test('the ping of GitHub is answered and publishes nothing; a form of GitHub holds the same JSON', async () => {
    const body = '{"zen": "Keep it logically awesome."}';
    const headers = {
      ...json,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${hex(SECRETS.github, body)}`,
    };
    expect((await send('github', { headers: { ...headers, 'x-github-event': 'ping' }, body })).status).toBe(200);
    expect(await stored('github:ping')).toEqual([]);
    const form = `payload=${encodeURIComponent('{"action": "opened"}')}`;
    const id = randomUUID();
    const sent = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-github-event': 'issues',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${hex(SECRETS.github, form)}`,
    };
    expect((await send('github', { headers: sent, body: form })).status).toBe(202);
    expect(await stored(id)).toMatchObject([{ name: 'github:issues', data: { action: 'opened' } }]);
  });
});

test.each([
  ['nobody', 404, 'WEBHOOK_SOURCE_UNKNOWN'],
  ['closed', 503, 'NOT_SET_ANYWHERE is not set'],
])('%s receives nothing', async (source, status, text) => {
  const answer = await send(source, { headers: json, body: '{}' });
  expect(answer).toMatchObject({ status, text: expect.stringContaining(text) as string });
});

test('what is no JSON, and what is too large, is refused with a code', async () => {
  const { headers } = made('grafana');
  expect(await send('grafana', { headers, body: '{' })).toMatchObject({
    status: 400,
    text: expect.stringContaining('WEBHOOK_BODY_INVALID') as string,
  });
  expect(await send('grafana', { headers, body: '['.repeat(600) + ']'.repeat(600) })).toMatchObject({ status: 422 });
  const { headers: large } = made('stripe');
  const answer = await send('stripe', { headers: large, body: ' '.repeat(4 * 1024 * 1024 + 1) }).catch(() => null);
  // The listener closes what it will not read to its end, which a sender may notice before the answer.
  if (answer !== null) expect(answer).toMatchObject({ status: 413 });
});

test('without the common secret nobody sends to /events', async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/events/a`, { method: 'POST', headers: json, body: '1' });
  expect(answer.status).toBe(401);
});
