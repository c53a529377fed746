/**
 * Who else of this machine reaches the embedded Temporal server and its Web UI, and through which proxy Sentinel reaches
 * servers elsewhere: `doctor` and `status` say it.
 */
import { request } from 'node:http';
import type { Environment } from './config/config.ts';
import type { TemporalState } from './config/services-state.ts';
import type { DoctorEntry } from './doctor-entry.ts';
import { findDoor } from './temporal/door.ts';
import { exceptionsIn, proxyOf, shownProxy, UnusableProxy } from '../world/http/proxy.ts';

const NAME = 'other users';

/** Of the embedded server, null where it is not started, or of somebody else's. */
export async function reachOf(server: TemporalState | 'external' | null, env: Environment): Promise<DoctorEntry> {
  const entry = { name: NAME, ok: true, where: null, version: null };
  if (server === 'external') return { ...entry, found: 'reach the Temporal server as it lets them' };
  if (server !== null && server.socket !== null)
    return { ...entry, found: 'do not reach the Temporal server and its Web UI' };
  const door = await findDoor({ ...env });
  if (door.ok && server === null) return { ...entry, found: 'will not reach the Temporal server and its Web UI' };
  const why = door.ok ? 'it was started before bubblewrap worked here' : door.reason;
  return {
    ...entry,
    found: `reach the Temporal server and its Web UI on loopback: ${why}`,
    remedy: door.ok ? 'Run `sentinel down`, then `sentinel up`.' : door.remedy,
  };
}

/** The status with which the Web UI behind a socket answers. */
export function askOverSocket(socketPath: string, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path: '/', timeout: timeoutMs, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asking.once('timeout', () => asking.destroy(new Error('no answer in time')));
    asking.once('error', reject);
    asking.end();
  });
}

const KINDS = ['https', 'http'] as const;

/** Of the environment, without the password. */
export function inspectProxy(env: Environment): DoctorEntry {
  const entry = { name: 'proxy', ok: true, where: null, version: null };
  try {
    const named = KINDS.flatMap((kind) => {
      const proxy = proxyOf(kind, env);
      return proxy === null ? [] : [`${kind}:// through ${shownProxy(proxy)}`];
    });
    if (named.length === 0) return { ...entry, found: 'none: servers elsewhere are asked directly' };
    const exceptions = exceptionsIn(env);
    const without = exceptions === '' ? 'this machine' : `this machine and ${exceptions}`;
    return { ...entry, found: `${named.join(', ')}; without it ${without}` };
  } catch (error) {
    if (!(error instanceof UnusableProxy)) throw error;
    return { ...entry, ok: false, found: error.message, remedy: `Correct ${error.variable}, or unset it.` };
  }
}
