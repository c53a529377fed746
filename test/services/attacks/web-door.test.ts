/** `sentinel web`, and whoever else finds its port: pages, names that lead there, another user with a guess. */
import { rmSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureServices } from '../../../services/ensure-services.ts';
import { homeKeys } from '../../../services/seal/home-key.ts';
import { PayloadSeal } from '../../../services/seal/payload-seal.ts';
import { stopServices } from '../../../services/stop-services.ts';
import { freshServices, startSentinel, type FreshServices, type Started } from '../harness/fresh-services.ts';

let services: FreshServices;
let web: Started;
/** As printed. */
let url: URL;
let cookie = '';

beforeAll(async () => {
  services = await freshServices();
  await ensureServices(services.options);
  web = startSentinel(services.options.env, ['web']);
  await vi.waitUntil(() => web.text().includes('The address works once'), { timeout: 60_000 });
  url = new URL(/http:\S+/.exec(web.text())?.[0] ?? '');
}, 180_000);

afterAll(async () => {
  web.child.kill('SIGINT');
  await web.said;
  await stopServices(services.options);
  rmSync(services.home, { recursive: true, force: true });
}, 120_000);

interface Asked {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function ask({ path = '/', method = 'GET', headers = {}, body = '' }: Asked) {
  const asking = request({ host: '127.0.0.1', port: url.port, path, method, headers, agent: false });
  asking.end(body);
  const answer = await new Promise<{ status: number; headers: IncomingHttpHeaders; said: string }>(
    (resolve, reject) => {
      asking.once('error', reject);
      asking.once('response', (reply) => {
        text(reply).then((said) => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, said }), reject);
      });
    },
  );
  return answer;
}

/** What a browser sends of itself from the UI's own pages. */
const ofOurs = (): Record<string, string> => ({ cookie, origin: url.origin, 'sec-fetch-site': 'same-origin' });

describe('the Web UI of a home', { timeout: 60_000 }, () => {
  it("is nobody's without the token, and says how to come in", async () => {
    for (const path of ['/', '/namespaces/default/workflows', '/api/v1/namespaces', '/?token=guessed', '/codec/decode'])
      expect(await ask({ path })).toMatchObject({
        status: 401,
        said: expect.stringContaining('sentinel web') as string,
      });
  });

  it('is not opened under another name, although the token is right', async () => {
    for (const host of [
      'rebound.example',
      `rebound.example:${url.port}`,
      `127.0.0.1:1`,
      `localhost`,
      `127.0.0.1.nip.io:${url.port}`,
    ])
      expect(await ask({ path: url.pathname + url.search, headers: { host } })).toMatchObject({ status: 403 });
  });

  it('is not opened by a page elsewhere, although the token is right', async () => {
    const headers = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    expect(await ask({ path: url.pathname + url.search, headers })).toMatchObject({ status: 403 });
  });

  it('opens for its owner, once', async () => {
    const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
    const entered = await ask({ path: url.pathname + url.search, headers: navigation });
    expect(entered).toMatchObject({ status: 303, headers: { location: '/' } });
    const [set = ''] = entered.headers['set-cookie'] ?? [];
    expect(set).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/);
    cookie = set.split(';')[0] ?? '';
    expect(await ask({ path: url.pathname + url.search })).toMatchObject({
      status: 401,
      said: expect.stringContaining('used') as string,
    });
    expect(await ask({ headers: { cookie } })).toMatchObject({
      status: 200,
      said: expect.stringContaining('<html') as string,
    });
    expect(await ask({ path: '/api/v1/namespaces/default', headers: ofOurs() })).toMatchObject({ status: 200 });
  });

  it('takes nothing from another page, even where a browser adds the cookie', async () => {
    const start = { path: '/api/v1/namespaces/default/workflows/x', method: 'POST', body: '{}' };
    const pages: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${Number(url.port) + 1}` },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      {},
    ];
    for (const page of pages) {
      const headers = { cookie, 'content-type': 'text/plain', ...page };
      expect({ page, ...(await ask({ ...start, headers })) }).toMatchObject({ status: 403 });
    }
    const image = { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' };
    expect(await ask({ path: '/api/v1/namespaces', headers: image })).toMatchObject({ status: 403 });
  });

  it('is not opened with the cookie of another session', async () => {
    const other = `${cookie.split('=')[0] ?? ''}=${'A'.repeat(43)}`;
    expect(await ask({ headers: { cookie: other } })).toMatchObject({ status: 401 });
  });

  it('shows no frame of itself elsewhere', async () => {
    const { headers } = await ask({ headers: { cookie } });
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'content-security-policy': "frame-ancestors 'none'" });
  });

  it('opens the values of runs for its own pages alone', async () => {
    const settings = await ask({ path: '/api/v1/settings', headers: ofOurs() });
    const { Codec } = JSON.parse(settings.said) as { Codec: { Endpoint: string } };
    expect(Codec.Endpoint).toBe(`${url.origin}/codec`);
    const seal = PayloadSeal.viewer(homeKeys(services.home));
    const clear = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"hidden"') };
    const [sealed] = await seal.encode([clear]);
    const written = {
      metadata: Object.fromEntries(
        Object.entries(sealed?.metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
      ),
      data: Buffer.from(sealed?.data ?? []).toString('base64'),
    };
    expect(Buffer.from(written.data, 'base64').toString('latin1')).not.toContain('hidden');
    const body = JSON.stringify({ payloads: [written] });
    const decode = { path: '/codec/decode', method: 'POST', body };
    const { status, said } = await ask({ ...decode, headers: { ...ofOurs(), 'content-type': 'application/json' } });
    expect(status).toBe(200);
    const [opened] = (JSON.parse(said) as { payloads: { data: string }[] }).payloads;
    expect(Buffer.from(opened?.data ?? '', 'base64').toString()).toBe('"hidden"');
    expect(await ask({ ...decode, body: 'x', headers: ofOurs() })).toMatchObject({ status: 400 });
    expect(await ask({ ...decode, headers: { cookie, origin: 'http://evil.example' } })).toMatchObject({ status: 403 });
    expect(await ask(decode)).toMatchObject({ status: 403 });
  });
});
