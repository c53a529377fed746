/** Services of a home and ports of their own, without a worker. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { ServicesOptions } from '../../services/ensure-services.ts';
import { choosePort } from '../../services/processes/ports.ts';

export interface FreshServices {
  home: string;
  options: ServicesOptions & { env: NodeJS.ProcessEnv };
}

export async function freshServices(): Promise<FreshServices> {
  const home = mkdtempSync(join(tmpdir(), 'sentinel-services-'));
  // Reachable for the user Postgres runs as where the tests run as root.
  chmodSync(home, 0o755);
  const temporal = await choosePort([]);
  const ui = await choosePort([], new Set([temporal]));
  const postgres = await choosePort([], new Set([temporal, ui]));
  const { TEMPORAL_ADDRESS: _address, DATABASE_URL: _url, ...rest } = process.env;
  const env = {
    ...rest,
    SENTINEL_HOME: home,
    SENTINEL_TEMPORAL_PORT: String(temporal),
    SENTINEL_TEMPORAL_UI_PORT: String(ui),
    SENTINEL_POSTGRES_PORT: String(postgres),
  };
  return { home, options: { withWorker: false, supervisorProgram: inject('supervisorProgram'), env } };
}
