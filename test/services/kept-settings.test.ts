/** What the worker was told by its environment stays until somebody says otherwise. */
import { existsSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureServices } from '../../services/ensure-services.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { stopServices } from '../../services/stop-services.ts';
import { isAlive } from '../../services/processes/process-identity.ts';
import { freshServices, sentinel, type FreshServices } from './harness/fresh-services.ts';

let home: string;
let options: FreshServices['options'];
beforeAll(async () => {
  ({ home, options } = await freshServices());
  delete options.env['SENTINEL_TRUST'];
});
afterAll(async () => {
  await stopServices(options);
  rmSync(home, { recursive: true, force: true });
});

const file = (): string => join(home, 'worker-settings.json');
function kept(): object {
  const { seal: _seal, ...settings } = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, string>;
  return settings;
}
const told = { SENTINEL_WEBHOOK_SECRET: 'sesame-sesame-sesame' };

test('stays when a verb comes that knows nothing of it, whatever has to be started anew', async () => {
  const before = await ensureServices(options);
  const up = await ensureServices({ ...options, replacesSettings: true, env: { ...options.env, ...told } });
  expect(up.supervisor.pid).not.toBe(before.supervisor.pid);
  expect(kept()).toEqual(told);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  const said: string[] = [];
  for (const env of [options.env, { ...options.env, SENTINEL_WEBHOOK_SECRET: 'another-another-another' }]) {
    expect((await ensureServices({ ...options, env, onProgress: (text) => said.push(text) })).supervisor).toEqual(
      up.supervisor,
    );
  }
  expect(said).toEqual([]);
  process.kill(up.supervisor.pid, 'SIGKILL');
  await expect.poll(() => isAlive(up.supervisor)).toBe(false);
  await ensureServices(options);
  expect(kept()).toEqual(told);
});

test('changes with "up", which says what, and ends with "down"', async () => {
  const before = await ensureServices(options);
  const said: string[] = [];
  const after = await ensureServices({ ...options, replacesSettings: true, onProgress: (text) => said.push(text) });
  expect(after.supervisor.pid).not.toBe(before.supervisor.pid);
  expect(said).toContain('SENTINEL_WEBHOOK_SECRET is no longer set; restarting the services');
  expect(kept()).toEqual({});
  await stopServices(options);
  expect(existsSync(file())).toBe(false);
});

test('says nothing of the folder in which a verb starts the services, whose worker is asked for', async () => {
  await stopServices(options);
  writeFileSync(join(home, 'sentinel.config.mjs'), 'export default {};\n');
  const trusting = { ...options.env, SENTINEL_TRUST: 'all' };
  const refused = await sentinel({ ...options.env, XDG_STATE_HOME: join(home, 'state') }, 'run', 'hello');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('not trusted') as string });
  const { code, err } = await sentinel(trusting, 'emit', 'order:placed');
  expect(code, err).toBe(0);
  expect(kept()).toEqual({ SENTINEL_TRUST: 'all' });
  const worker = () => readServicesState(home)?.workers.map(({ project, process }) => [project, process?.status]);
  await expect.poll(worker, { timeout: 60_000 }).toEqual([[realpathSync(home), 'up']]);
});
