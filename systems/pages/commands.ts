/** `screenshot`: a page as a browser of the worker's host shows it, as a picture that models take. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Browser, BrowserType, CDPSession, Page } from 'playwright-core';
import * as z from 'zod';
import { Failure } from '../../world/failures/failures.ts';
import { findHelper, helperPath } from '../../world/own-programs/helper-programs.ts';
import { type Command, type CommandContext, type Context, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { namesProxy } from '../../world/pages/onward.ts';
import { PageProxy } from '../../world/pages/page-proxy.ts';
import { refusedBy } from './settings.ts';

const BOUNDS = {
  sideMax: 4_000,
  /** Of a whole page. */
  heightMax: 16_000,
  /** As models take pictures. */
  bytesMax: 5 * 1024 * 1024,
  /** How long a page may go on asking for things before it is taken as it is. */
  idleMs: 3_000,
} as const;

const Side = z.number().int().min(50).max(BOUNDS.sideMax);
const Url = z.url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' });

const Params = z.strictObject({
  url: Url,
  width: Side.optional(),
  height: Side.optional(),
  fullPage: z.boolean().optional().describe('true: all of the page, however far it goes down'),
});
type Params = z.infer<typeof Params>;

async function screenshot(params: Params, context: Context) {
  const isForModel = context.confinement?.byModel === true;
  const hostRefused = refusedBy(context.settings);
  const proxy =
    hasProxy() || isForModel || hostRefused !== null ? await PageProxy.open({ isForModel, hostRefused }) : null;
  try {
    return await shown(params, context, proxy);
  } catch (error) {
    const refused = proxy?.refused[0];
    if (refused === undefined || !(error instanceof Failure) || error.code !== 'SCREENSHOT_FAILED') throw error;
    const { where, why } = refused;
    const message = `"${params.url}" leads to ${where}, which is not shown${isForModel ? ' to a model' : ''}: ${why}`;
    throw new Failure('SCREENSHOT_FAILED', message, { cause: error });
  } finally {
    await proxy?.close();
  }
}

function hasProxy(): boolean {
  try {
    return namesProxy();
  } catch (error) {
    throw new Failure(
      'SCREENSHOT_FAILED',
      `no page can be shown: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function shown(params: Params, context: CommandContext, proxy: PageProxy | null) {
  const { url, width = 1280, height = 800 } = params;
  const browser = await launch(context, proxy);
  const end = (): void => void browser.close();
  context.signal.addEventListener('abort', end, { once: true });
  try {
    context.signal.throwIfAborted();
    const page = await browser.newPage({ viewport: { width, height } });
    page.setDefaultTimeout(context.timeoutMs);
    const status = await open(page, url);
    const seen = await page.context().newCDPSession(page);
    const picture = await taken(page, seen, params);
    const { targetInfo } = await seen.send('Target.getTargetInfo');
    return { url: page.url(), title: targetInfo.title, status, width, ...picture };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    throw new Failure(
      'SCREENSHOT_FAILED',
      `"${url}" could not be shown (${firstLine(error)}); check that it is served, and at this address`,
      { cause: error },
    );
  } finally {
    context.signal.removeEventListener('abort', end);
    await browser.close();
  }
}

const firstLine = (error: unknown): string =>
  ((error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '').replace(/^page\.\w+: /, '');

/** What a page leads to is looked at like what was asked for. */
async function open(page: Page, url: string): Promise<number | null> {
  await page.route('**/*', (route) =>
    /^(?:https?|data|blob):/.test(route.request().url()) ? route.continue() : route.abort(),
  );
  const response = await page.goto(url, { waitUntil: 'load' });
  if (!/^https?:/.test(page.url())) throw new Error(`it leads to ${page.url()}`);
  await page.waitForLoadState('networkidle', { timeout: BOUNDS.idleMs }).catch(() => undefined);
  return response?.status() ?? null;
}

/** `seen`: what the browser itself says of the page; what the page says of itself may be of any size. */
async function taken(page: Page, seen: CDPSession, { width = 1280, height = 800, fullPage = false }: Params) {
  const tall = fullPage ? (await seen.send('Page.getLayoutMetrics')).cssContentSize.height : height;
  const shownHeight = Math.min(Math.max(height, Math.ceil(tall)), BOUNDS.heightMax);
  const clip = { x: 0, y: 0, width, height: shownHeight };
  const png = await page.screenshot({ type: 'png', clip, fullPage });
  const isSmall = png.length <= BOUNDS.bytesMax;
  const bytes = isSmall ? png : await page.screenshot({ type: 'jpeg', quality: 70, clip, fullPage });
  if (bytes.length > BOUNDS.bytesMax)
    throw new Failure(
      'VALUE_TOO_LARGE',
      `the picture has ${bytes.length} bytes, and models take ${BOUNDS.bytesMax}; make it smaller`,
    );
  return {
    height: shownHeight,
    bytes: bytes.length,
    mediaType: isSmall ? ('image/png' as const) : ('image/jpeg' as const),
    image: bytes.toString('base64'),
  };
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge'];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** `SENTINEL_CHROMIUM` of the worker, or the first that is installed. */
export function findChromium(project: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const named = env['SENTINEL_CHROMIUM'];
  if (named !== undefined && named !== '') return isAbsolute(named) && existsSync(named) ? named : null;
  const path = helperPath(project, env['PATH'] ?? '');
  const found = NAMES.map((name) => findHelper(name, path)).find((file) => file !== null);
  return found ?? PLACES.find((file) => existsSync(file)) ?? null;
}

const ARGUMENTS = [
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-quic',
];

/**
 * The pages that a model asks for, and whatever they lead to, come through the proxy alone: no name is looked up, and
 * nothing is sent beside it.
 */
const THROUGH_PROXY = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--dns-prefetch-disable',
  '--disable-features=WebTransport,AsyncDns,DnsOverHttps,NetworkPrediction',
];

/** An installation has it only where somebody takes pictures of pages. */
async function driver(): Promise<{ chromium: BrowserType }> {
  try {
    return await import('playwright-core');
  } catch (error) {
    throw new Failure(
      'BROWSER_MISSING',
      'the package "playwright-core", which drives the browser, is not installed; install it beside sentinel-engine (npm install playwright-core), then restart the worker (sentinel down, sentinel up)',
      { cause: error },
    );
  }
}

async function launch({ run, timeoutMs }: CommandContext, proxy: PageProxy | null): Promise<Browser> {
  const executablePath = findChromium(run.project);
  if (executablePath === null)
    throw new Failure(
      'BROWSER_MISSING',
      'there is no Chromium on the worker\'s host; install "chromium" or Google Chrome, or name one with SENTINEL_CHROMIUM where the worker is started',
    );
  const { chromium } = await driver();
  // Chromium refuses its own sandbox to root.
  const isRoot = process.getuid?.() === 0;
  try {
    return await chromium.launch({
      executablePath,
      timeout: timeoutMs,
      chromiumSandbox: !isRoot,
      args: [...ARGUMENTS, ...(proxy === null ? [] : THROUGH_PROXY)],
      ...(proxy === null ? {} : { proxy: proxy.access }),
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/nonexistent', LANG: 'C.UTF-8' },
    });
  } catch (error) {
    throw new Failure('BROWSER_MISSING', `${executablePath} does not start: ${firstLine(error)}`, { cause: error });
  }
}

export const screenshotCommands: Command[] = [
  defineCommand({
    name: 'screenshot',
    description: 'Shows a page in a browser and takes a picture of it.',
    permission: 'network',
    speed: 'long',
    secrets: 'values',
    textField: 'title',
    failures: {
      BROWSER_MISSING: { title: 'There is no browser for a screenshot', retryable: false },
      SCREENSHOT_FAILED: 'A page could not be loaded for a screenshot',
    },
    params: Params,
    result: z.strictObject({
      url: z.string(),
      title: z.string(),
      status: z.number().nullable(),
      width: z.number(),
      height: z.number(),
      bytes: z.number(),
      mediaType: z.enum(['image/png', 'image/jpeg']),
      image: z.string(),
    }),
    run: screenshot,
    predict: ({ url }) => ({ text: `takes a picture of ${simulatedText(url)}`, source: 'assumed' }),
  }),
];
