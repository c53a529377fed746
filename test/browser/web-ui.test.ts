/**
 * What a person sees of a run in the Temporal Web UI, in a real browser: its name, its steps by
 * command and key, its nested run, and its search attributes.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const home = mkdtempSync(join(tmpdir(), 'sentinel-browser-'));
const env = {
  SENTINEL_HOME: home,
  SENTINEL_TEMPORAL_PORT: '27233',
  SENTINEL_TEMPORAL_UI_PORT: '28233',
};
const sentinel = (...args: string[]) => execa(join(root, 'sentinel'), args, { env, reject: false });

let browser: Browser;

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const flags = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
});

afterAll(async () => {
  await browser.close();
  await sentinel('down');
  rmSync(home, { recursive: true, force: true });
});

test('a run can be read in the Web UI', async () => {
  const { stdout, exitCode, stderr } = await sentinel(
    'run',
    join(import.meta.dirname, 'shown.json'),
    '--json',
    '--project',
    root,
  );
  expect(exitCode, stderr).toBe(0);
  const { webUrl, handle } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { webUrl: string; handle: string };
  const page = await browser.newPage({ viewport: { width: 1400, height: 1400 } });
  await page.goto(webUrl);
  await page.getByText('Completed').first().waitFor();
  await page.getByText('steps.0@1').first().waitFor();
  const history = await page.locator('body').textContent();
  expect(history).toContain(`sentinel/${handle}`);
  expect(history).toContain('echo seen');
  expect(history).toContain('shown-child');
  await page.goto(
    webUrl.replace(
      /\/workflows\/(.*)$/,
      `/workflows?query=${encodeURIComponent('SentinelName="shown" AND SentinelStatus="completed"')}`,
    ),
  );
  await page.getByText(`sentinel/${handle}`).first().waitFor();
});
