/**
 * A page that a model looks at, and what it leads to: services of Sentinel of any installation, and the addresses at
 * which clouds give machines their credentials, however they are spelt.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { findChromium } from '../../../systems/pages/commands.ts';
import { placeOf } from '../../../world/pages/addresses.ts';
import { deniedOf } from '../../../world/pages/listeners.ts';
import { PageProxy } from '../../../world/pages/page-proxy.ts';
import type { Json } from '../../../language/json.ts';
import { commandContext } from '../harness/command-context.ts';
import { pidOf } from '../../pids.ts';

const registry = builtInRegistry();
const PROJECT = '/nonexistent/project';
const shown = (url: string, byModel = true): Promise<Json> =>
  registry.run(
    'screenshot',
    { url, width: 200, height: 100 },
    commandContext(PROJECT, byModel ? { confinement: { byModel } } : {}),
  );

const HELD = `
  const { createServer } = require('node:http');
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.url !== '/asked') asked += 1;
    response.setHeader('access-control-allow-origin', '*');
    response.end(request.url === '/asked' ? String(asked) : '<title>Histories</title>');
  });
  server.listen(0, process.argv[2], () => process.stdout.write(String(server.address().port)));
`;

interface Held {
  port: number;
  pid: number;
}

/** A program of another installation: of the package, or a Temporal server. */
async function installation(as: 'package' | 'temporal', host = '127.0.0.1'): Promise<Held> {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-other-'));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: as === 'package' ? 'sentinel-engine' : 'other', type: 'commonjs' }),
  );
  await writeFile(join(folder, 'main.js'), HELD);
  const child = spawn(process.execPath, [join(folder, 'main.js'), host], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(as === 'temporal' ? { argv0: '/opt/else/temporal' } : {}),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(port.toString()), pid: pidOf(child) };
}

async function said(proxy: PageProxy, head: string, isKnown = true): Promise<string> {
  const { server: at, username, password } = proxy.access;
  const socket = connect(Number(new URL(at).port), '127.0.0.1');
  const word = Buffer.from(`${username}:${password}`).toString('base64');
  socket.write(`${head}\r\nHost: a\r\n${isKnown ? `Proxy-Authorization: Basic ${word}\r\n` : ''}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString();
}

/** What the proxy says to a browser that wants to go there. */
async function tunnelled(place: string): Promise<string> {
  const proxy = await PageProxy.open({ isForModel: true });
  try {
    return await said(proxy, `CONNECT ${place} HTTP/1.1`);
  } finally {
    await proxy.close();
  }
}

const askedOf = ({ port }: Held): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/asked' }, (response) => {
      response.on('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
    })
      .on('error', reject)
      .end();
  });

const LINKED = [
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[fd00:ec2::254]',
  '168.63.129.16',
  '100.100.100.200',
  '[fe80::1]',
  '224.0.0.1',
];

let server: Server;
let url = '';
/** Where pages of this server lead. */
let to = '';
beforeAll(async () => {
  server = createServer((asked, response) => {
    if (asked.url === '/away') return response.writeHead(302, { location: to }).end();
    response.setHeader('content-type', 'text/html');
    if (asked.url === '/leads')
      return response.end(`<title>Page</title><iframe src="${to}"></iframe><img src="${to}"><script>
        fetch('${to}', { mode: 'no-cors' }).catch(() => {});
        new WebSocket('${to.replace('http', 'ws')}');
        new EventSource('${to}');
        navigator.sendBeacon('${to}', 'x');
        const peer = new RTCPeerConnection({ iceServers: [{ urls: 'turn:${to.replace(/^http:\/\//, '').replace(/\/$/, '')}?transport=tcp', username: 'a', credential: 'b' }] });
        peer.createDataChannel('a'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      </script>`);
    if (asked.url === '/said') return response.end('said by the server');
    return response.end(
      `<title>Home</title><script>fetch('/said').then((r) => r.text()).then((t) => { document.title = t; })</script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.runIf(findChromium(PROJECT) !== null)('a model', () => {
  it.each(['package', 'temporal'] as const)(
    'is shown no service of another installation (%s), and asks it nothing',
    async (as) => {
      const other = await installation(as);
      const { port } = other;
      for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]'])
        await expect(shown(`http://${host}:${port}/`), host).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
      const spellings = [
        'localhost',
        '127.0.0.1',
        '127.9.8.7',
        '0.0.0.0',
        '[::1]',
        '[::]',
        '[::ffff:7f00:1]',
        '[64:ff9b::7f00:1]',
      ];
      for (const host of spellings) expect(await tunnelled(`${host}:${port}`), host).toMatch(/^HTTP\/1.1 403 /);
      to = `http://127.0.0.1:${port}/`;
      await expect(shown(`${url}away`)).rejects.toMatchObject({
        code: 'SCREENSHOT_FAILED',
        message: expect.stringContaining('service of Sentinel') as string,
      });
      expect(await shown(`${url}leads`)).toMatchObject({ title: 'Page' });
      expect(await askedOf(other)).toBe(0);
    },
  );

  it('nor at an address of a network that this host has', async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    const other = await installation('package', '0.0.0.0');
    for (const host of ['127.0.0.1', ...(own === undefined ? [] : [own.address])])
      expect(await tunnelled(`${host}:${other.port}`), host).toMatch(/^HTTP\/1.1 403 /);
    expect(await askedOf(other)).toBe(0);
  });

  it('is not led to the credentials of a cloud, nor by a page', async () => {
    const why = { code: 'SCREENSHOT_FAILED', message: expect.stringContaining('credentials') as string };
    await expect(shown('http://2852039166/')).rejects.toMatchObject(why);
    to = 'http://[::ffff:169.254.169.254]/latest/';
    await expect(shown(`${url}away`)).rejects.toMatchObject(why);
    for (const host of LINKED) expect(await tunnelled(`${host}:80`), host).toMatch(/^HTTP\/1.1 403 /);
  });

  it('is shown no server that this worker uses, wherever it is', async () => {
    let asked = 0;
    const far = createServer((_request, response) => {
      asked += 1;
      response.end('<title>Far</title>');
    });
    await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void far.close());
    const { port } = far.address() as AddressInfo;
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const [name, value] of [
      ['TEMPORAL_ADDRESS', `localhost:${port}`],
      ['TEMPORAL_ADDRESS', `localhost:${port - 1000}`],
      ['SENTINEL_WEB_URL', `http://127.0.0.1:${port}`],
      ['DATABASE_URL', `postgres://a:b@localhost:${port}/c`],
    ] as const) {
      vi.unstubAllEnvs();
      vi.stubEnv(name, value);
      await expect(shown(`http://127.0.0.1:${port}/`), value).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
    }
    vi.unstubAllEnvs();
    expect(asked).toBe(0);
    expect(await shown(`http://127.0.0.1:${port}/`)).toMatchObject({ title: 'Far' });
  });

  it('is shown the server of a project, with what its scripts ask of it, by every name of this host', async () => {
    const { port } = new URL(url);
    for (const host of ['localhost', '[::ffff:127.0.0.1]'])
      expect(await shown(`http://${host}:${port}/`), host).toMatchObject({ title: 'said by the server', status: 200 });
  });

  it('is told why a page is not there', async () => {
    await expect(shown('http://127.0.0.1:9/')).rejects.toMatchObject({
      code: 'SCREENSHOT_FAILED',
      message: expect.stringContaining('check that it is served') as string,
    });
    await expect(shown('http://name.invalid/')).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
  });
});

describe.runIf(findChromium(PROJECT) !== null)('a definition', () => {
  it('is shown what it names, a Web UI of Temporal, too', async () => {
    const { port } = await installation('temporal');
    expect(await shown(`http://127.0.0.1:${port}/`, false)).toMatchObject({ title: 'Histories' });
  });
});

describe('the proxy', () => {
  it('serves nobody without the password of its launch', async () => {
    const proxy = await PageProxy.open({ isForModel: true });
    onTestFinished(() => proxy.close());
    const target = new URL(url).host;
    expect(await said(proxy, `GET ${url} HTTP/1.1`, false)).toMatch(/^HTTP\/1.1 407 /);
    expect(await said(proxy, `CONNECT ${target} HTTP/1.1`, false)).toMatch(/^HTTP\/1.1 407 /);
    expect(await said(proxy, `GET ${url} HTTP/1.1`)).toMatch(/^HTTP\/1.1 200 /);
    expect(await said(proxy, `CONNECT ${target} HTTP/1.1`)).toMatch(/^HTTP\/1.1 200 /);
  });
});

it.each([
  ['127.0.0.1', 'here'],
  ['127.255.255.254', 'here'],
  ['0.0.0.0', 'here'],
  ['0.1.2.3', 'here'],
  ['::1', 'here'],
  ['::', 'here'],
  ['::ffff:127.0.0.1', 'here'],
  ['::ffff:7f00:1', 'here'],
  ['::7f00:1', 'here'],
  ['64:ff9b::7f00:1', 'here'],
  ['64:ff9b:1::7f00:1', 'here'],
  ['2002:7f00:1::', 'here'],
  ['10.0.0.1', 'elsewhere'],
  ['192.168.1.1', 'elsewhere'],
  ['93.184.216.34', 'elsewhere'],
  ['100.64.0.1', 'elsewhere'],
  ['fd12:3456::1', 'elsewhere'],
  ['2606:4700::1111', 'elsewhere'],
  ['64:ff9b::5db8:d822', 'elsewhere'],
])('%s is %s', (address, place) => {
  expect(placeOf(address)).toBe(place);
});

it.each([
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::',
  '::ffff:0:a9fe:a9fe',
  'fe80::5efe:a9fe:a9fe',
  'fe80::1%eth0',
  'fd00:ec2::254',
  '168.63.129.16',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
  '2001::1',
  'name',
  '',
])('%s is no place for a page', (address) => {
  expect(['here', 'elsewhere']).not.toContain(placeOf(address));
});

it('knows whose a listener is', async () => {
  const { port } = await installation('package');
  expect(await deniedOf(port)).toBe('it is a service of Sentinel');
  expect(await deniedOf(Number(new URL(url).port))).toBeNull();
});
