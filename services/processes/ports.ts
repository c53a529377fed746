/**
 * Loopback ports. Everything embedded listens on 127.0.0.1 and nowhere else.
 */
import { connect, isIPv4 } from 'node:net';
import getPort, { clearLockedPorts } from 'get-port';

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

/** True when something accepts connections there. */
export function accepts(host: string, port: number, timeoutMs = 1000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeoutMs, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
