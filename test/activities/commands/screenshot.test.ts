/** `screenshot` with a Chromium of this machine. */
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { findChromium } from '../../../systems/pages/commands.ts';
import { picturesOf } from '../../../language/models/pictures.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { refusalOf } from '../../../language/permissions.ts';
import { commandContext } from '../harness/command-context.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
/** What a run could have put there is no browser of the host. */
const PROJECT = '/nonexistent/project';
const run = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('screenshot', params, commandContext(PROJECT, over));

let server: Server;
let url: string;
/** Where "/away" and a frame of "/framed" lead. */
let leadsTo = '';
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/slow') return undefined;
    if (request.url === '/away') return response.writeHead(302, { location: leadsTo }).end();
    response.setHeader('content-type', 'text/html');
    if (request.url === '/framed')
      return response.end(
        `<title>Framed</title><iframe src="${leadsTo}"></iframe><script>fetch('${leadsTo}')</script>`,
      );
    return response.end('<title>Home</title><body style="margin:0;height:3000px;background:#0a0"></body>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.runIf(findChromium(PROJECT) !== null)('with a browser', () => {
  it('takes a picture of what is seen, or of all of the page', async () => {
    const seen = await run({ url, width: 320, height: 240 });
    expect(seen).toMatchObject({ url, title: 'Home', status: 200, width: 320, height: 240, mediaType: 'image/png' });
    expect(picturesOf(seen)).toMatchObject([{ mediaType: 'image/png' }]);
    expect(await run({ url, width: 320, height: 240, fullPage: true })).toMatchObject({ height: 3000 });
  });

  it('says why a page could not be shown', async () => {
    await expect(run({ url: 'http://127.0.0.1:9/' })).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
    await expect(run({ url: `${url}slow` }, { timeoutMs: 2000 })).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
    const signal = AbortSignal.timeout(1500);
    await expect(run({ url: `${url}slow` }, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe.runIf(findChromium(PROJECT) !== null)('for a model', () => {
  it('shows pages of this host, and nothing of Sentinel itself, however a page leads there', async () => {
    const ui = createServer((_request, response) => {
      asked += 1;
      response.end('<title>Histories</title>');
    });
    let asked = 0;
    await new Promise<void>((resolve) => ui.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void ui.close());
    const { port } = ui.address() as AddressInfo;
    leadsTo = `http://127.0.0.1:${port}/`;
    const home = await temporaryFolder();
    await writeFile(
      join(home, 'services.json'),
      JSON.stringify({ temporal: { port: 1, uiPort: port }, postgres: null, worker: null }),
    );
    vi.stubEnv('SENTINEL_HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const byModel = (address: string): Promise<Json> => run({ url: address }, { confinement: { byModel: true } });
    expect(await byModel(url)).toMatchObject({ title: 'Home' });
    for (const address of [leadsTo, `http://localhost:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`, `${url}away`])
      await expect(byModel(address), address).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
    await byModel(`${url}framed`);
    for (const address of ['http://169.254.169.254/', 'http://metadata.google.internal/'])
      await expect(byModel(address)).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
    expect(asked).toBe(0);
    expect(await run({ url: `${url}away` })).toMatchObject({ title: 'Histories' });
  });

  it('follows no page to a file', async () => {
    leadsTo = 'file:///etc/passwd';
    await expect(run({ url: `${url}away` })).rejects.toMatchObject({ code: 'SCREENSHOT_FAILED' });
  });
});

it.each(['file:///etc/passwd', 'data:text/html,x', 'chrome://version', 'javascript:alert(1)', 'localhost:80', ''])(
  'shows no "%s"',
  async (address) => {
    await expect(run({ url: address })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
  },
);

it('says what to install where there is no browser', async () => {
  expect(findChromium(PROJECT, { PATH: '/nonexistent' })).toBeNull();
  expect(findChromium(PROJECT, { SENTINEL_CHROMIUM: 'relative', PATH: process.env['PATH'] })).toBeNull();
  process.env['SENTINEL_CHROMIUM'] = '/nonexistent/chromium';
  try {
    await expect(run({ url })).rejects.toMatchObject({
      code: 'BROWSER_MISSING',
      message: expect.stringContaining('install') as string,
    });
  } finally {
    delete process.env['SENTINEL_CHROMIUM'];
  }
});

it('says no longer that it is alive when it has failed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.stubEnv('SENTINEL_CHROMIUM', '/nonexistent/chromium');
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(run({ url })).rejects.toMatchObject({ code: 'BROWSER_MISSING' });
  expect(vi.getTimerCount()).toBe(0);
});

it('is refused where the network is', () => {
  for (const mode of ['sandboxed', 'readonly'] as const)
    expect(refusalOf(registry.catalogue, mode, { permission: 'network', command: 'screenshot' })).not.toBeNull();
});
