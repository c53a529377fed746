/** A long command on services of its own, whose worker is killed again and again: the supervisor starts the next one. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SentinelClient } from '../../client/client.ts';
import { openStore } from '../../prisma/store/open-store.ts';
import { readConfig } from '../../services/config/config.ts';
import { readServicesState } from '../../services/config/services-state.ts';
import { ensureServices, type ServicesOptions } from '../../services/ensure-services.ts';
import { choosePort } from '../../services/processes/ports.ts';
import { stopServices } from '../../services/stop-services.ts';

let home: string;
let options: ServicesOptions & { env: NodeJS.ProcessEnv };

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'sentinel-build-'));
  chmodSync(home, 0o755);
  const temporal = await choosePort([]);
  const ui = await choosePort([], new Set([temporal]));
  const { TEMPORAL_ADDRESS: _address, DATABASE_URL: _url, ...rest } = process.env;
  const ports = { SENTINEL_TEMPORAL_PORT: String(temporal), SENTINEL_TEMPORAL_UI_PORT: String(ui) };
  options = {
    supervisorProgram: inject('supervisorProgram'),
    env: { ...rest, ...ports, SENTINEL_HOME: home, SENTINEL_PROJECT: home },
  };
}, 120_000);

afterAll(async () => {
  await stopServices(options);
  rmSync(home, { recursive: true, force: true });
}, 120_000);

const seconds = 20;
const kills = 6;

test('a command of 20 s whose worker is killed six times takes hardly longer, runs once, and its log is whole', async () => {
  await ensureServices(options);
  const client = new SentinelClient({ env: options.env, startsServices: false });
  const store = openStore({ url: readConfig(options.env).database.url ?? '' });
  const effects = join(home, 'effects');
  const done = (): string[] => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : []);
  const command = `for i in $(seq 1 ${seconds}); do echo part $i; echo odd $i >&2; echo $i >> effects; sleep 1; done`;
  try {
    const { handle } = await client.start(
      { name: 'built', loop: { type: 'once' }, steps: [{ type: 'shell', command, outputTo: 'out' }] },
      { project: home },
    );
    await expect.poll(done, { timeout: 60_000 }).not.toEqual([]);
    const beganAt = performance.now();
    const killed = new Set<number>();
    while (killed.size < kills && done().length < seconds) {
      const pid = readServicesState(home)?.worker?.process?.pid;
      if (pid !== undefined && !killed.has(pid)) {
        process.kill(pid, 'SIGKILL');
        killed.add(pid);
      }
      await sleep(50);
    }
    expect(killed.size).toBe(kills);
    const result = await client.result(handle);
    const tookSeconds = (performance.now() - beganAt) / 1000;
    const parts = Array.from({ length: seconds }, (_, i) => String(i + 1));
    const said = (word: string): string => parts.map((part) => `${word} ${part}\n`).join('');
    expect(result).toMatchObject({
      outcome: 'completed',
      outputs: { out: { exitCode: 0, stdout: said('part'), stderr: said('odd') } },
    });
    expect(done()).toEqual(parts);
    for (const [stream, word] of [
      ['stdout', 'part'],
      ['stderr', 'odd'],
    ] as const) {
      const logged = await store.logs.read(handle, stream, 0, 1_000);
      expect(logged.filter((line) => line.startsWith(word))).toEqual(parts.map((part) => `${word} ${part}`));
    }
    // The last worker may have been killed just before the end, and the next one has to start.
    expect(tookSeconds).toBeLessThan(seconds + 15);
  } finally {
    await client.close();
    await store.close();
  }
}, 240_000);
