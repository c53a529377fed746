/**
 * Loopback ports, for what cannot listen on a socket of its own. Nothing embedded listens elsewhere than on 127.0.0.1.
 */
import { connect, isIPv4 } from 'node:net';
import getPort, { clearLockedPorts } from 'get-port';
import type { PostgresState, TemporalState } from '../config/services-state.ts';

export const LOOPBACK = '127.0.0.1';

/** By the name alone, as it stands in an address; an IPv6 host may be in brackets. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replaceAll(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || name === '0.0.0.0' || (isIPv4(name) && name.startsWith('127.'));
}

/** The first of the wanted ports that is free, else any free one; never one in `taken`. */
export async function choosePort(
  wanted: readonly (number | null | undefined)[],
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  for (;;) {
    // get-port gives no port twice within half a minute, but a server that starts again keeps its own.
    clearLockedPorts();
    const port = await getPort({
      host: LOOPBACK,
      exclusive: true,
      port: wanted.filter((candidate) => typeof candidate === 'number'),
      exclude: taken,
    });
    // `exclude` holds for the wanted ports, not for the one that the system chooses.
    if (!taken.has(port)) return port;
  }
}

/** A socket by its path, or a port. */
export type Place = { path: string } | { host: string; port: number };

/** Where a server of ours listens; null for somebody else's. */
export function placeOf(server: TemporalState | PostgresState): Place | null {
  if (server.socket !== null) return { path: server.socket };
  return 'port' in server && server.port !== null ? { host: LOOPBACK, port: server.port } : null;
}

/** True when something accepts connections there. */
export function accepts(place: Place, timeoutMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place);
    const finish = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeoutMs, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
