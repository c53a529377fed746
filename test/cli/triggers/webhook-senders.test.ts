/** Messages out of the documentation of their senders, and the configuration of sources. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebhooksConfig, webhookSources } from '../../../services/config/webhook-config.ts';
import { SENDERS } from '../../../services/webhooks/senders/senders.ts';
import type { WebhookHeaders } from '../../../services/webhooks/senders/sender.ts';

afterEach(() => vi.useRealTimers());

const standAt = (seconds: number): unknown => vi.useFakeTimers({ toFake: ['Date'], now: seconds * 1000 });

/** Each with the time at which it was signed; `signature`: the header that a changed one is refused in. */
const VECTORS: {
  from: string;
  kind: keyof typeof SENDERS;
  secret: string;
  at?: number;
  body: string;
  headers: WebhookHeaders;
}[] = [
  {
    from: 'GitHub, "Validating webhook deliveries"',
    kind: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  {
    from: 'Slack, "Verifying requests from Slack"',
    kind: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    at: 1_531_420_618,
    body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  },
  {
    from: 'Standard Webhooks, "Verifying webhooks manually"',
    kind: 'standard',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    at: 1_614_265_330,
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
];

describe.each(VECTORS)('$from', ({ kind, secret, at, body, headers }) => {
  const sender = SENDERS[kind];

  test('fits, and does with a second secret beside it', async () => {
    standAt(at ?? 0);
    expect(sender.early(headers, [secret])).toBeNull();
    expect(await sender.verify(headers, [secret], Buffer.from(body))).toBeNull();
    const other = kind === 'standard' ? 'whsec_AAAA' : 'another secret, as long';
    expect(await sender.verify(headers, [other, secret], Buffer.from(body))).toBeNull();
    expect(await sender.verify(headers, [other], Buffer.from(body))).toMatchObject({ fault: { status: 401 } });
  });

  test('does not with any byte changed', async () => {
    standAt(at ?? 0);
    for (const place of [0, Math.floor(body.length / 2), body.length - 1]) {
      const changed = Buffer.from(body);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(await sender.verify(headers, [secret], changed)).toMatchObject({
        fault: { code: 'WEBHOOK_SIGNATURE_INVALID' },
      });
    }
    expect(await sender.verify(headers, [secret], Buffer.from(`${body} `))).not.toBeNull();
    expect(await sender.verify(headers, [secret], Buffer.alloc(0))).not.toBeNull();
  });

  test.runIf(at !== undefined)('does for five minutes, and no longer', async () => {
    standAt((at ?? 0) + 299);
    expect(await sender.verify(headers, [secret], Buffer.from(body))).toBeNull();
    standAt((at ?? 0) + 302);
    expect(await sender.verify(headers, [secret], Buffer.from(body))).toMatchObject({
      fault: { code: 'WEBHOOK_TIME_INVALID' },
    });
    standAt((at ?? 0) - 302);
    expect(sender.early(headers, [secret])).toMatchObject({ fault: { code: 'WEBHOOK_TIME_INVALID' } });
  });
});

test('of Stripe only v1 counts, one of several is enough, and the scheme cannot be exchanged', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_492_774_577_000 });
  const [secret, body] = ['whsec_test_secret_of_an_endpoint', '{"id":"evt_1","type":"invoice.paid"}'];
  // printf '1492774577.{"id":"evt_1","type":"invoice.paid"}' | openssl dgst -sha256 -hmac whsec_test_secret_of_an_endpoint
  const right = '01c0b7550846f5416a40e66867f572122644ea6ab47d8d921a9923e9da3d6c70';
  const wrong = '0'.repeat(64);
  const check = (header: string) => SENDERS.stripe.verify({ 'stripe-signature': header }, [secret], Buffer.from(body));
  expect(await check(`t=1492774577,v1=${right}`)).toBeNull();
  expect(await check(`t=1492774577,v1=${wrong},v1=${right},v0=${wrong}`)).toBeNull();
  for (const header of [
    `t=1492774577,v0=${right}`,
    `t=1492774577,v1=${wrong}`,
    `t=1492774578,v1=${right}`,
    `v1=${right}`,
    `t=,v1=${right}`,
    '',
    't=1492774577',
  ])
    expect(await check(header), header).toMatchObject({ fault: { status: 401 } });
});

test.each(Object.entries(SENDERS))(
  'what "webhook test" sends of %s is taken and publishes nothing',
  async (kind, sender) => {
    const secret = kind === 'standard' ? 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' : 'a secret of some length';
    const { headers, body } = await sender.proof(secret);
    expect(sender.early(headers, [secret])).toBeNull();
    expect(await sender.verify(headers, [secret], Buffer.from(body))).toBeNull();
    expect(sender.meaning(headers, JSON.parse(body))).toMatchObject({ is: 'handshake' });
    const event = await sender.event(secret, { kind: 'thing.done', id: 'id-1', data: { a: 1 } });
    expect(await sender.verify(event.headers, [secret], Buffer.from(event.body))).toBeNull();
    expect(sender.meaning(event.headers, JSON.parse(event.body))).toMatchObject({ kind: 'thing.done', id: 'id-1' });
  },
);

const faults = (config: unknown): string[] =>
  WebhooksConfig.safeParse(config).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

const sourceOf = (secret: WebhooksConfig[string]['secret'], kind: 'github' | 'standard' = 'github') =>
  webhookSources({ a: { kind, secret } }, { OLD: 'the old secret, long', SHORT: 'short' })[0];

describe('sources', () => {
  test('are named by a kind, or say theirs', () => {
    expect(faults({ github: {}, shop: { kind: 'stripe' } })).toEqual([]);
    expect(faults({ shop: {} })).toEqual([
      'shop.kind: says who sends: one of github, gitlab, stripe, slack, standard, token',
    ]);
    expect(faults({ git: { kind: 'github' } })).toHaveLength(1);
    expect(faults({ 'No Name': { kind: 'github' } })).toHaveLength(1);
    expect(faults({ github: { secret: 7 } })[0]).toContain('{ env: "VARIABLE" }');
  });

  test('have secrets by the names of variables, and say what is missing', () => {
    expect(sourceOf({ env: ['NEW', 'OLD'] })).toMatchObject({ secrets: ['the old secret, long'], fault: null });
    expect(sourceOf(['one that is long enough', 'two that is long enough'])).toMatchObject({ fault: null });
    expect(sourceOf({ env: 'NEW' })?.fault).toContain('NEW is not set');
    expect(sourceOf(undefined)?.fault).toContain('no secret');
    expect(sourceOf({ env: 'SHORT' })?.fault).toContain('fewer than 16');
    expect(sourceOf('not base64 at all, no', 'standard')?.fault).toContain('whsec_BASE64');
  });
});
