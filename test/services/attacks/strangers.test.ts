/**
 * Services that run for one user, and what others reach of them: another user of the machine, and whoever can
 * open a connection to its loopback address. What the owner does with them works beside it.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';
import type { ServicesState } from '../../../services/config/services-state.ts';
import { ensureServices } from '../../../services/ensure-services.ts';
import { stopServices } from '../../../services/stop-services.ts';
import { freshServices, type FreshServices } from '../harness/fresh-services.ts';
import { canBeNobody, connectAsNobody, portsOf, treeOf } from '../harness/strangers.ts';

let services: FreshServices;
let state: ServicesState;

beforeAll(async () => {
  services = await freshServices();
  state = await ensureServices(services.options);
}, 120_000);

afterAll(async () => {
  await stopServices(services.options);
  rmSync(services.home, { recursive: true, force: true });
}, 120_000);

async function ask(url: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT 1 AS answer')).rows as unknown[];
  } finally {
    await client.end();
  }
}

const urlOf = ({ options }: FreshServices): string => readConfig(options.env).database.url ?? '';

describe.runIf(process.platform === 'linux')('the database', { timeout: 120_000 }, () => {
  it('listens on no port', () => {
    const pids = treeOf(state.postgres?.process?.pid ?? 0);
    expect(pids.length).toBeGreaterThan(1);
    expect(portsOf(pids)).toEqual([]);
  });

  it.runIf(canBeNobody)('lets no other user near its socket', async () => {
    expect(await connectAsNobody({ path: state.postgres?.socket ?? '' })).toBe('EACCES');
  });

  it('answers its owner', async () => {
    expect(await ask(urlOf(services))).toEqual([{ answer: 1 }]);
  });

  it('answers whatever PGPORT and PGHOST are of another database', async () => {
    process.env['PGPORT'] = '1';
    process.env['PGHOST'] = 'nowhere.invalid';
    try {
      expect(await ask(urlOf(services))).toEqual([{ answer: 1 }]);
    } finally {
      delete process.env['PGPORT'];
      delete process.env['PGHOST'];
    }
  });
});

describe.runIf(process.platform === 'linux')('a home too deep for sockets', { timeout: 120_000 }, () => {
  it('has them in a short folder that is as closed', async () => {
    const { options } = services;
    const place = mkdtempSync(join(tmpdir(), 'sentinel-deep-'));
    const home = join(place, 'a'.repeat(60), 'b'.repeat(60));
    mkdirSync(home, { recursive: true });
    chmodSync(place, 0o755);
    const deep = { ...options, env: { ...options.env, SENTINEL_HOME: home } };
    try {
      const { postgres } = await ensureServices(deep);
      const socket = postgres?.socket ?? '';
      expect(socket.startsWith(home)).toBe(false);
      expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
      expect(await ask(readConfig(deep.env).database.url ?? '')).toEqual([{ answer: 1 }]);
      if (canBeNobody) expect(await connectAsNobody({ path: socket })).toBe('EACCES');
    } finally {
      await stopServices(deep);
      rmSync(place, { recursive: true, force: true });
    }
  });
});
