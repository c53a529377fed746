/** What a page says of itself, its title and its height, may be of any size, and may be no such thing. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { findChromium } from '../../../systems/pages/commands.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = builtInRegistry();
const PROJECT = '/nonexistent/project';

const PAGES: { readonly [path: string]: string } = {
  '/title': '<script>document.title = "x".repeat(100e6)</script>',
  '/height':
    '<script>Object.defineProperty(document.documentElement, "scrollHeight", { get: () => "x".repeat(100e6) })</script>',
  '/plain': '<title>Plain</title><body style="margin: 0"><div style="height: 1500px">a</div>',
};

let server: Server;
const shown = (path: string): Promise<unknown> => {
  const { port } = server.address() as AddressInfo;
  const params = { url: `http://127.0.0.1:${port}${path}`, width: 200, height: 100, fullPage: true };
  return registry.run('screenshot', params, commandContext(PROJECT));
};

beforeAll(async () => {
  server = createServer((asked, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(PAGES[asked.url ?? ''] ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

describe.runIf(findChromium(PROJECT) !== null)('a screenshot', () => {
  it.each(['/title', '/height'])('does not take it over: %s', async (path) => {
    await shown('/plain');
    const before = process.memoryUsage().external + process.memoryUsage().heapTotal;
    const seen = (await shown(path)) as { title: string; height: number };
    expect(seen.title.length).toBeLessThan(10_000);
    expect(seen.height).toBe(100);
    expect(process.memoryUsage().external + process.memoryUsage().heapTotal - before).toBeLessThan(80e6);
  });

  it('says the title and takes the whole of an ordinary page', async () => {
    expect(await shown('/plain')).toMatchObject({ title: 'Plain', height: 1500 });
  });
});
