/** `screenshot` with a Chromium of this machine. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../activities/commands/command.ts';
import { builtInCommands, createRegistry } from '../../../activities/commands/registry.ts';
import { findChromium } from '../../../activities/commands/screenshot.ts';
import { picturesOf } from '../../../language/models/pictures.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { refusalOf } from '../../../language/permissions.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = createRegistry(builtInCommands());
/** What a run could have put there is no browser of the host. */
const PROJECT = '/nonexistent/project';
const run = (params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> =>
  registry.run('screenshot', params, commandContext(PROJECT, over));

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/slow') return;
    response.setHeader('content-type', 'text/html');
    response.end('<title>Home</title><body style="margin:0;height:3000px;background:#0a0"></body>');
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

it('is refused where the network is', () => {
  for (const mode of ['sandboxed', 'readonly'] as const)
    expect(refusalOf(registry.catalogue, mode, { permission: 'network', command: 'screenshot' })).not.toBeNull();
});
