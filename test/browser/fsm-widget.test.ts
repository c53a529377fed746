/** The widget of a cycle in a real browser: what it shows, when it is drawn again, and what it leaves behind. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, '..', '..', 'dist', 'systems', 'cycle', 'page', 'sentinel-fsm-widget.js');
const AT = Date.parse('2026-01-02T03:04:05Z');

/** What the address of the status answers with. */
let status: object | null = null;
let asked = 0;
let server: Server;
let browser: Browser;
let page: Page;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/widget.js')
      response.setHeader('content-type', 'text/javascript').end(readFileSync(MODULE, 'utf8'));
    else if (request.url === '/status') {
      asked += 1;
      response.statusCode = status === null ? 503 : 200;
      response.end(JSON.stringify(status));
    } else response.setHeader('content-type', 'text/html').end('<!doctype html><title>any page</title><main></main>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
});
afterAll(async () => {
  await browser.close();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(async () => {
  page = await browser.newPage();
  await page.goto(url);
});
afterEach(() => page.close());

const planning = {
  currentState: 'PLANNING_WITH_CONTEXT',
  cycleContext: { goal: '<b>add</b> a flag' },
  stateHistory: [
    { from: 'IDLE', to: 'CURATING_CONTEXT', timestamp: AT },
    { from: 'AWAITING_CONTEXT_APPROVAL', to: 'PLANNING_WITH_CONTEXT', timestamp: AT + 1_000 },
  ],
};

/** In the page, with the module as `widget`. */
const inPage = (code: string): Promise<unknown> =>
  page.evaluate(`(async () => { const widget = await import('/widget.js'); ${code} })()`);
const put = (shown: object): Promise<unknown> =>
  inPage(
    `widget.show(${JSON.stringify(shown)}); document.querySelector('main').append(document.createElement('sentinel-fsm-widget'));`,
  );
const textOf = (selector: string): Promise<unknown> =>
  inPage(`return document.querySelector('sentinel-fsm-widget').shadowRoot.querySelector('${selector}')?.textContent`);
const styleOf = (selector: string, property: string): Promise<unknown> =>
  inPage(
    `return getComputedStyle(document.querySelector('sentinel-fsm-widget').shadowRoot.querySelector('${selector}')).${property}`,
  );

test('shows the state, the goal as text, and the latest transitions first, in an open shadow root', async () => {
  await put(planning);
  expect(await textOf('.state')).toBe('PLANNING_WITH_CONTEXT');
  expect(await textOf('.goal')).toBe('<b>add</b> a flag');
  expect(await textOf('.history')).toBe(
    '03:04:06 AWAITING_CONTEXT_APPROVAL → PLANNING_WITH_CONTEXT03:04:05 IDLE → CURATING_CONTEXT',
  );
  expect(await inPage('return customElements.get("sentinel-fsm-widget") === widget.SentinelFSMWidget')).toBe(true);
  expect(await inPage('return widget.SentinelFSMWidget.metadata')).toEqual({
    displayName: 'Sentinel FSM',
    icon: '🔄',
    category: 'agent',
  });
});

test.each([
  ['IDLE', 'idle', 'rgb(136, 136, 136)'],
  ['REFLECTING', 'active', 'rgb(0, 255, 255)'],
  ['ERROR', 'error', 'rgb(255, 68, 68)'],
])('the indicator of %s is %s', async (currentState, indicator, colour) => {
  await put({ ...planning, currentState });
  expect(await styleOf(`section.${indicator}`, 'borderLeft')).toBe(`3px solid ${colour}`);
  expect(await styleOf('.state', 'fontSize')).toBe('18px');
  expect(await styleOf('.state', 'fontWeight')).toBe('700');
  expect(await styleOf('.goal', 'fontSize')).toBe('12px');
  expect(await styleOf('.goal', 'fontFamily')).toBe('monospace');
  expect(await styleOf('.goal', 'color')).toBe('rgb(255, 255, 255)');
  expect(await styleOf('.history', 'maxHeight')).toBe('300px');
});

test('is drawn again each second, and at once for an event', async () => {
  await put(planning);
  await inPage(`widget.show(${JSON.stringify({ ...planning, currentState: 'GENERATING_PROPOSAL' })})`);
  expect(await textOf('.state')).toBe('PLANNING_WITH_CONTEXT');
  await expect.poll(() => textOf('.state'), { timeout: 5_000 }).toBe('GENERATING_PROPOSAL');
  await inPage(
    `widget.show(${JSON.stringify({ ...planning, currentState: 'ERROR' })}); dispatchEvent(new CustomEvent('fsm:transition'));`,
  );
  await expect.poll(() => textOf('.state'), { timeout: 500, interval: 20 }).toBe('ERROR');
});

test('reads an address, keeps what it shows where that is away, and asks no more once it is gone', async () => {
  status = planning;
  await inPage(
    `document.querySelector('main').innerHTML = '<sentinel-fsm-widget src="/status"></sentinel-fsm-widget>'`,
  );
  await expect.poll(() => textOf('.state'), { timeout: 5_000 }).toBe('PLANNING_WITH_CONTEXT');
  status = null;
  const before = asked;
  await expect.poll(() => asked, { timeout: 5_000 }).toBeGreaterThan(before);
  expect(await textOf('.state')).toBe('PLANNING_WITH_CONTEXT');
  await inPage(`document.querySelector('main').replaceChildren()`);
  await page.waitForTimeout(200);
  const last = asked;
  await page.waitForTimeout(2_500);
  expect(asked).toBe(last);
});
