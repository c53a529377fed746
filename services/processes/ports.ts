/**
 * Loopback ports. Everything embedded listens on 127.0.0.1 and nowhere else.
 */
import { connect, createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** The first of the wanted ports that is free, else any free one; never one in `taken`. */
export async function choosePort(
  wanted: readonly (number | null | undefined)[],
  taken: ReadonlySet<number> = new Set(),
): Promise<number> {
  for (const port of wanted) {
    if (typeof port === 'number' && !taken.has(port) && (await tryListen(port)) !== null) return port;
  }
  for (;;) {
    const port = await tryListen(0);
    if (port === null)
      throw new Error('No free port on 127.0.0.1: close some programs or raise the range of local ports.');
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

function tryListen(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : null;
      server.close(() => resolve(bound));
    });
  });
}
