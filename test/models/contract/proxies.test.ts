/** Servers elsewhere are asked through the proxy that the environment names, by either spelling; this machine never is. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isOnThisMachine, proxyFor, shownProxy } from '../../../world/http/proxy.ts';
import { failureOf, replyOf, say, turn, useDouble, WIRES } from '../harness/turns.ts';
import { CompanyProxy } from '../wires/proxy.ts';

const NAMES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];
beforeEach(() => {
  for (const name of NAMES) for (const variable of [name, name.toUpperCase()]) vi.stubEnv(variable, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const through = (address: string, env: Record<string, string>): string | null => {
  const proxy = proxyFor(new URL(address), env);
  return proxy === null ? null : shownProxy(proxy);
};

describe('which proxy', () => {
  const all = { http_proxy: 'http://a:1', HTTPS_PROXY: 'https://b:2', all_proxy: 'c:3' };

  test.each<[string, Record<string, string>, string | null]>([
    ['http://models.test/v1', all, 'http://a:1 (http_proxy)'],
    ['https://models.test/v1', all, 'https://b:2 (HTTPS_PROXY)'],
    ['https://models.test/v1', { http_proxy: 'http://a:1' }, null],
    ['https://models.test/v1', { ALL_PROXY: 'proxy:3128' }, 'http://proxy:3128 (ALL_PROXY)'],
    ['https://models.test', { https_proxy: ' ', HTTPS_PROXY: 'http://b:2' }, 'http://b:2 (HTTPS_PROXY)'],
    ['https://models.test', { https_proxy: 'http://s:1', HTTPS_PROXY: 'http://b:2' }, 'http://s:1 (https_proxy)'],
    ['https://models.test', { https_proxy: 'http://ada:swordfish@a:1' }, 'http://a:1 (https_proxy)'],
    ['https://models.test', { all_proxy: 'socks5h://s:1080' }, 'socks5://s:1080 (all_proxy)'],
  ])('%s with %j is %s', (address, env, proxy) => {
    expect(through(address, env)).toBe(proxy);
  });

  test.each([
    ['*', 'https://models.test'],
    ['models.test', 'https://models.test'],
    ['test', 'https://models.test'],
    ['.test', 'https://models.test'],
    ['*.test', 'https://models.test'],
    ['MODELS.test', 'https://models.test'],
    ['a, models.test', 'https://models.test'],
    ['models.test:443', 'https://models.test'],
    ['10.0.0.0/8', 'https://10.1.2.3:8000'],
    ['10.1.2.3', 'https://10.1.2.3'],
    ['10.1.2.3:8000', 'https://10.1.2.3:8000'],
    ['[fd00::1]', 'https://[fd00::1]'],
    ['fd00::/8', 'https://[fd00::1]'],
    ['[fd00::1]:443', 'https://[fd00::1]'],
  ])('no_proxy %s excepts %s', (list, address) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(through(address, { https_proxy: 'http://a:1', [name]: list })).toBe(null);
  });

  test.each([
    ['models.test:8443', 'https://models.test'],
    ['els.test', 'https://models.test'],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.0/99', 'https://10.0.0.1'],
    ['/', 'https://models.test'],
  ])('no_proxy %s does not except %s', (list, address) => {
    expect(through(address, { https_proxy: 'http://a:1', no_proxy: list })).toBe('http://a:1 (https_proxy)');
  });

  test.each([
    'localhost',
    'a.localhost',
    'LOCALHOST.',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    '0.0.0.0',
    '[::]',
    '[::ffff:127.0.0.1]',
  ])('%s is this machine', (host) => {
    expect(isOnThisMachine(new URL(`http://${host}:7233`))).toBe(true);
    expect(through(`http://${host}`, all)).toBe(null);
  });

  test.each(['http://', 'ftp://a:1', 'http://a:b:c', '://'])('%s is no proxy, and the variable is named', (value) => {
    expect(() => through('https://models.test', { https_proxy: value })).toThrow(
      'https_proxy is no address of a proxy; write http://HOST:PORT',
    );
  });
});

describe.each(WIRES)('%s through a proxy', (_kind, wire) => {
  const double = useDouble();
  const elsewhere = { url: 'http://models.elsewhere.test' };
  let open: CompanyProxy;
  let guarded: CompanyProxy;
  beforeAll(async () => {
    const port = Number(new URL(double().url).port);
    open = await new CompanyProxy({ port }).open();
    guarded = await new CompanyProxy({ port, known: 'ada:swordfish-12' }).open();
  });
  afterAll(async () => {
    await Promise.all([open.close(), guarded.close()]);
  });

  test.each(['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'])('that %s names', async (variable) => {
    vi.stubEnv(variable, `http://${open.address}`);
    double().next(say(wire));
    const { blocks } = await replyOf(turn(wire, elsewhere));
    expect(blocks).toEqual([{ type: 'text', text: 'Hello there.' }]);
    expect(open.asked.at(-1)).toBe(`POST http://models.elsewhere.test${wire.path}`);
  });

  test('a server on this machine is asked directly', async () => {
    vi.stubEnv('http_proxy', `http://${open.address}`);
    const before = open.asked.length;
    double().next(say(wire));
    await replyOf(turn(wire, double()));
    expect(open.asked.length).toBe(before);
  });

  test('that wants a user and a password, and names none of them in a failure', async () => {
    vi.stubEnv('http_proxy', `http://ada:swordfish-12@${guarded.address}`);
    double().next(say(wire));
    await replyOf(turn(wire, elsewhere));
    expect(guarded.asked.length).toBe(1);
    vi.stubEnv('http_proxy', `http://ada:wrong-pass-12@${guarded.address}`);
    const failure = await failureOf(turn(wire, elsewhere));
    expect(failure).toMatchObject({ kind: 'auth', setting: 'http_proxy' });
    expect(failure.message).toBe(
      `${wire.kind} cannot be reached through the proxy http://${guarded.address} (http_proxy) (it answered 407): write another user and password into http_proxy, as http://USER:PASSWORD@HOST:PORT`,
    );
  });

  test.each([
    [403, 'auth'],
    [502, 'network'],
  ])('that refuses a tunnel with %i', async (refuses, kind) => {
    const proxy = await new CompanyProxy({ port: 1, refuses }).open();
    vi.stubEnv('https_proxy', `http://${proxy.address}`);
    const failure = await failureOf(turn(wire, { url: 'https://models.elsewhere.test' }));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(
      `through the proxy http://${proxy.address} (https_proxy) (it answered ${refuses})`,
    );
    expect(proxy.asked).toEqual(['CONNECT models.elsewhere.test:443']);
    await proxy.close();
  });

  test.each(['http', 'https'])('that is down, for %s', async (protocol) => {
    vi.stubEnv(`${protocol}_proxy`, 'http://ada:swordfish-12@127.0.0.1:1');
    const failure = await failureOf(turn(wire, { url: `${protocol}://models.elsewhere.test` }));
    expect(failure.kind).toBe('network');
    expect(failure.message).toBe(
      `${wire.kind} cannot be reached through the proxy http://127.0.0.1:1 (${protocol}_proxy) (ECONNREFUSED): is the proxy running, and is ${protocol}_proxy right?`,
    );
  });

  test('a variable that names no proxy fails, and is named', async () => {
    vi.stubEnv('http_proxy', 'ftp://a:1');
    const failure = await failureOf(turn(wire, elsewhere));
    expect(failure).toMatchObject({ kind: 'auth', setting: 'http_proxy' });
    expect(failure.message).toContain('http_proxy is no address of a proxy');
  });
});
