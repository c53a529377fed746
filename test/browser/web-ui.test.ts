/**
 * What a person sees of a run in the Temporal Web UI that `sentinel web` opens, in a real browser: its name, its steps by
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

/** Of `sentinel web`, which stays until it is told to end. */
const serving: { kill: (signal: NodeJS.Signals) => boolean }[] = [];

async function addressIn({ stdout }: Pick<ReturnType<typeof sentinel>, 'stdout'>): Promise<string> {
  let said = '';
  for await (const chunk of stdout) {
    said += String(chunk);
    const found = /http:\S+/.exec(said)?.[0];
    if (found !== undefined && said.includes('\n')) return found;
  }
  throw new Error(`"sentinel web" printed no address: ${said}`);
}

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
  for (const web of serving) web.kill('SIGINT');
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
  const { handle } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { handle: string };
  const opened = sentinel('web', handle);
  serving.push(opened);
  const url = await addressIn(opened);
  const page = await browser.newPage({ viewport: { width: 1400, height: 1400 } });
  await page.goto(url);
  await page.getByText('Completed').first().waitFor();
  await page.getByText('steps.0@1').first().waitFor();
  const history = await page.locator('body').textContent();
  expect(history).toContain(`sentinel/${handle}`);
  expect(history).toContain('echo seen');
  expect(history).toContain('shown-child');
  await page.goto(
    page
      .url()
      .replace(
        /\/workflows\/(.*)$/,
        `/workflows?query=${encodeURIComponent('SentinelName="shown" AND SentinelStatus="completed"')}`,
      ),
  );
  await page.getByText(`sentinel/${handle}`).first().waitFor();
});
