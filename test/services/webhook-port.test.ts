/** A port for webhooks that somebody else has: `up`, `status` and `doctor` say who, and do not end well. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../services/processes/ports.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { stopServices } from '../../services/stop-services.ts';
import { freshServices, sentinel, type FreshServices } from './harness/fresh-services.ts';

let ours: FreshServices;
let theirs: FreshServices;
let port: number;
let told: NodeJS.ProcessEnv;
const children: ChildProcess[] = [];

beforeAll(async () => {
  [ours, theirs] = await Promise.all([freshServices(), freshServices()]);
  port = await choosePort([]);
  told = { SENTINEL_WEBHOOK_SECRET: 'sesame-sesame-sesame', SENTINEL_WEBHOOK_PORT: String(port) };
}, 60_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([stopServices(ours.options), stopServices(theirs.options)]);
  for (const { home } of [ours, theirs]) rmSync(home, { recursive: true, force: true });
}, 120_000);

/** A program that answers everybody that all is well. */
async function stranger(): Promise<ChildProcess> {
  const code = `require('node:http').createServer((q, r) => r.end('{"ok": true}')).listen(${port}, '127.0.0.1', () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

const entry = (out: string): Record<string, unknown> =>
  (JSON.parse(out) as { entries: Record<string, unknown>[] }).entries.find(({ name }) => name === 'webhooks') ?? {};

describe('webhooks whose port somebody else has', { timeout: 240_000 }, () => {
  it('are missed by "up", "status" and "doctor", which say who has it and what to do', async () => {
    const env = ours.options.env;
    const { pid } = await stranger();
    const up = await sentinel({ ...env, ...told }, 'up');
    expect(up.code).toBe(1);
    expect(up.out).toMatch(/✔ worker/);
    expect(up.out).toMatch(
      new RegExp(
        `✖ webhooks  port ${port} of 127.0.0.1 is held by pid ${pid} \\(.*node.*\\), which is not of this installation\n`,
      ),
    );
    expect(up.out).toMatch(
      /^webhooks: End that process.*SENTINEL_WEBHOOK_PORT to a free port and run `sentinel up`\.$/m,
    );
    const again = await sentinel({ ...env, ...told }, 'up', '--json');
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ ok: false, webhooks: { ok: false, port, holder: { pid } } });
    // Whoever looks from a shell that was told nothing of webhooks sees the same.
    for (const args of [
      ['status', '--json'],
      ['doctor', '--json'],
    ]) {
      const { code, out } = await sentinel(env, ...args);
      expect(code).toBe(1);
      expect(entry(out)).toMatchObject({ ok: false, port, found: expect.stringContaining(`pid ${pid}`) as string });
    }
  });

  it('are received within seconds once it has gone', async () => {
    children.at(-1)?.kill('SIGKILL');
    expect(await sentinel({ ...ours.options.env, ...told }, 'up')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`✔ webhooks  http://127.0.0.1:${port}/events/NAME\n`) as string,
    });
    expect(await sentinel(ours.options.env, 'status')).toMatchObject({ code: 0 });
  });

  it('are missed where another installation has it, with the same secret', async () => {
    const holder = readServicesState(ours.home)?.worker?.process?.pid;
    const env = { ...theirs.options.env, ...told };
    const { code, out } = await sentinel(env, 'up', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      webhooks: { ok: false, holder: { pid: holder, program: expect.stringContaining('worker/main.js') as string } },
    });
    const free = await choosePort([]);
    expect(await sentinel({ ...env, SENTINEL_WEBHOOK_PORT: String(free) }, 'up')).toMatchObject({ code: 0 });
  });

  it('are missed where the address is not of this machine', async () => {
    const env = { ...ours.options.env, ...told, SENTINEL_WEBHOOK_HOST: '203.0.113.1' };
    const { code, out } = await sentinel(env, 'up');
    expect(code).toBe(1);
    expect(out).toMatch(new RegExp(`✖ webhooks  nobody listens on port ${port} of 203.0.113.1\n`));
  });
});
