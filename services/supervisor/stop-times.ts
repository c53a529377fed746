/** How long what the supervisor keeps may take to end, before it is killed. */
import type { Config } from '../config/config.ts';

export const SERVER_GRACE_MS = 20_000;

/** A worker ends within its own grace; it is killed where it does not. */
export const workerMaxMs = ({ graceMs }: Pick<Config, 'graceMs'>): number => graceMs + 5000;

/** Everything: first the worker, then the servers. */
export const stopMaxMs = (config: Pick<Config, 'graceMs'>): number =>
  workerMaxMs(config) + 2 * SERVER_GRACE_MS + 10_000;
