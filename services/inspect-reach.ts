/** Who else of this machine reaches the embedded Temporal server and its Web UI: `doctor` and `status` say it. */
import { request } from 'node:http';
import type { Environment } from './config/config.ts';
import type { TemporalState } from './config/services-state.ts';
import type { DoctorEntry } from './doctor-entry.ts';
import { findDoor } from './temporal/door.ts';

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
