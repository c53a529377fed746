/** Pages behind a company's proxy: what a page leads to goes through it, this machine and what is refused never. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { findChromium } from '../../../systems/pages/commands.ts';
import { refusedBy } from '../../../systems/pages/settings.ts';
import { PageProxy, type Terms } from '../../../world/pages/page-proxy.ts';
import { commandContext } from '../harness/command-context.ts';
import { CompanyProxy } from '../../models/wires/proxy.ts';

const PROJECT = '/nonexistent/project';
let pages: Server;
let company: CompanyProxy;
beforeEach(async () => {
  pages = createServer((asked, answer) => answer.end(`<title>${asked.headers.host ?? ''}</title>`));
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const { port } = pages.address() as AddressInfo;
  company = await new CompanyProxy({ port, known: 'ada:swordfish-12' }).open();
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'])
    for (const variable of [name, name.toUpperCase()]) vi.stubEnv(variable, undefined);
  for (const variable of ['http_proxy', 'HTTPS_PROXY'])
    vi.stubEnv(variable, `http://ada:swordfish-12@${company.address}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await company.close();
  pages.closeAllConnections();
  await new Promise((resolve) => pages.close(resolve));
});

/** What a browser is answered. */
async function answerTo(
  head: string,
  isForModel: boolean,
  hostRefused: Terms['hostRefused'] = null,
): Promise<{ said: string; refused: string[] }> {
  const proxy = await PageProxy.open({ isForModel, hostRefused });
  const { server, username, password } = proxy.access;
  const socket = connect(Number(new URL(server).port), '127.0.0.1');
  const word = Buffer.from(`${username}:${password}`).toString('base64');
  socket.write(`${head}\r\nHost: a.test\r\nProxy-Authorization: Basic ${word}\r\n\r\n`);
  const [said] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])) as [Buffer | ''];
  socket.destroy();
  await proxy.close();
  return { said: said.toString(), refused: proxy.refused.map(({ why }) => why) };
}

describe('hosts that the configuration names', () => {
  const only = refusedBy({ hosts: ['198.51.100.7', '*.a.test'] });

  it.each([
    ['198.51.100.7:443', 200],
    ['x.a.test:443', 200],
    ['a.test:443', 403],
    ['xa.test:443', 403],
    ['198.51.100.8:443', 403],
    ['a.test.evil.test:443', 403],
    ['localhost:443', 403],
  ])('%s is answered with %i', async (place, status) => {
    // For a model, a name is looked up here.
    for (const isForModel of /^\d/.test(place) ? [true, false] : [false]) {
      const before = company.asked.length;
      const { said, refused } = await answerTo(`CONNECT ${place} HTTP/1.1`, isForModel, only);
      expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
      expect(refused.filter((why) => why.includes('settings.pages.hosts'))).toHaveLength(status === 403 ? 1 : 0);
      expect(company.asked.length - before).toBe(status === 403 ? 0 : 1);
    }
  });
});

describe('for a model', () => {
  it.each([
    ['CONNECT 198.51.100.7:443 HTTP/1.1', 'CONNECT 198.51.100.7:443'],
    ['GET http://198.51.100.7/a?b HTTP/1.1', 'GET http://198.51.100.7/a?b'],
    ['GET http://[2001:db8::7]:8080/ HTTP/1.1', 'GET http://[2001:db8::7]:8080/'],
  ])('%s goes through the proxy', async (head, asked) => {
    const { said } = await answerTo(head, true);
    expect(said).toMatch(/^HTTP\/1\.1 200/);
    expect(company.asked).toEqual([asked]);
  });

  it('what it is not shown does not reach the proxy', async () => {
    const { said, refused } = await answerTo('CONNECT 169.254.169.254:443 HTTP/1.1', true);
    expect(said).toMatch(/^HTTP\/1\.1 403/);
    expect(refused).toHaveLength(1);
    expect(company.asked).toEqual([]);
  });

  it('a name that only a proxy of this machine could look up is refused', async () => {
    const { said, refused } = await answerTo('CONNECT nowhere.elsewhere.test:443 HTTP/1.1', true);
    expect(said).toMatch(/^HTTP\/1\.1 403/);
    expect(refused).toEqual(['its name has no address here, and the proxy is on this machine']);
    expect(company.asked).toEqual([]);
  });
});

describe('for a step', () => {
  it('the proxy looks the name up', async () => {
    const { said } = await answerTo('CONNECT nowhere.elsewhere.test:443 HTTP/1.1', false);
    expect(said).toMatch(/^HTTP\/1\.1 200/);
    expect(company.asked).toEqual(['CONNECT nowhere.elsewhere.test:443']);
  });

  it('this machine and what no_proxy names are asked directly', async () => {
    const { port } = pages.address() as AddressInfo;
    expect((await answerTo(`GET http://localhost:${port}/ HTTP/1.1`, false)).said).toContain('a.test');
    expect(company.asked).toEqual([]);
  });
});

describe.runIf(findChromium(PROJECT) !== null)('with a browser', () => {
  const registry = builtInRegistry();

  it('shows a page through the proxy', async () => {
    const params = { url: 'http://pages.elsewhere.test/', width: 200, height: 100 };
    expect(await registry.run('screenshot', params, commandContext(PROJECT))).toMatchObject({
      title: 'pages.elsewhere.test',
      status: 200,
    });
    expect(company.asked).toContain('GET http://pages.elsewhere.test/');
  });

  it('shows one of this machine without it', async () => {
    const { port } = pages.address() as AddressInfo;
    const params = { url: `http://127.0.0.1:${port}/`, width: 200, height: 100 };
    expect(await registry.run('screenshot', params, commandContext(PROJECT))).toMatchObject({ status: 200 });
    expect(company.asked).toEqual([]);
  });

  it('shows none of a host that the configuration does not name', async () => {
    const { port } = pages.address() as AddressInfo;
    const bound = builtInRegistry({ settings: { pages: { hosts: ['pages.elsewhere.test'] } } });
    const shown = (url: string): Promise<unknown> =>
      bound.run('screenshot', { url, width: 200, height: 100 }, commandContext(PROJECT));
    expect(await shown('http://pages.elsewhere.test/')).toMatchObject({ status: 200 });
    await expect(shown(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'SCREENSHOT_FAILED',
      message: expect.stringContaining('settings.pages.hosts') as string,
    });
  });

  it('says which variable names no proxy', async () => {
    vi.stubEnv('http_proxy', 'ftp://a:1');
    const params = { url: 'http://pages.elsewhere.test/', width: 200, height: 100 };
    await expect(registry.run('screenshot', params, commandContext(PROJECT))).rejects.toMatchObject({
      code: 'SCREENSHOT_FAILED',
      message: expect.stringContaining('http_proxy is no address of a proxy') as string,
    });
  });
});
