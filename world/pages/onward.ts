/**
 * From the browser's proxy to a server: directly, or through the proxy that the environment names for it.
 *
 * A name that this machine cannot look up is the proxy's to look up, where the proxy stands elsewhere: what it then
 * reaches is nothing of this machine or its link. A proxy on this machine is told the address that was looked at, since a
 * name could mean another one to it.
 */
import { isIP, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { authorizationOf, isOnThisMachine, proxyFor, proxyOf, type Proxy } from '../http/proxy.ts';

const CONNECT_MS = 10_000;
const HEAD_BYTES_MAX = 16 * 1024;

/** A connection to the server; or to a proxy that takes requests for it. */
export interface Way {
  socket: Socket;
  /** What stands before the path where a proxy is asked. */
  asked?: string;
  /** For the proxy. */
  headers?: Readonly<Record<string, string>>;
}

/** Null where SOCKS is spoken, or the environment names none: pages are then asked for directly. */
export function pageProxy(kind: 'http' | 'https', host: string, port: number): Proxy | null {
  const proxy = proxyFor(new URL(`${kind}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`));
  return proxy?.url.protocol.startsWith('socks') === true ? null : proxy;
}

/** Whether the environment names any. Throws `UnusableProxy`. */
export const namesProxy = (): boolean => (['http', 'https'] as const).some((kind) => proxyOf(kind) !== null);

/** What the proxy is asked for: `address` is null where this machine could not look the name up. */
export function nameFor(proxy: Proxy, host: string, address: string | null): string | null {
  return isOnThisMachine(proxy.url) ? address : host;
}

/** A connection to the proxy itself; null where there is none. */
export function toProxy({ url }: Proxy): Promise<Socket | null> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isEncrypted = url.protocol === 'https:';
  const port = Number(url.port) || (isEncrypted ? 443 : 80);
  const name = isIP(host) === 0 ? { servername: host } : {};
  return opened(
    isEncrypted ? connectTls({ host, port, ...name }) : connectTcp({ host, port }),
    isEncrypted ? 'secureConnect' : 'connect',
  );
}

/** A tunnel of the proxy to a server; null where it does not make one. */
export async function throughTunnel(proxy: Proxy, host: string, port: number): Promise<Socket | null> {
  const socket = await toProxy(proxy);
  if (socket === null) return null;
  const place = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const authorization = authorizationOf(proxy);
  const known = authorization === null ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${known}\r\n`);
  return answered(socket);
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket | null> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      socket.destroy();
      resolve(null);
    };
    const timer = setTimeout(giveUp, CONNECT_MS);
    socket.once('error', giveUp);
    socket.once('close', () => clearTimeout(timer));
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off('error', giveUp);
      resolve(socket);
    });
  });
}

/** Reads the head of the proxy's answer, and leaves what follows to whoever reads the socket. */
function answered(socket: Socket): Promise<Socket | null> {
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const end = (result: Socket | null): void => {
      clearTimeout(timer);
      socket.off('data', read).off('error', giveUp).off('close', giveUp);
      if (result === null) socket.destroy();
      resolve(result);
    };
    const giveUp = (): void => end(null);
    const read = (bytes: Buffer): void => {
      head = Buffer.concat([head, bytes]);
      const at = head.indexOf('\r\n\r\n');
      if (at < 0) {
        if (head.length > HEAD_BYTES_MAX) giveUp();
        return;
      }
      socket.pause();
      const rest = head.subarray(at + 4);
      if (rest.length > 0) socket.unshift(rest);
      end(/^HTTP\/1\.[01] 2\d\d\b/.test(head.toString('latin1', 0, 16)) ? socket : null);
    };
    const timer = setTimeout(giveUp, CONNECT_MS);
    socket.on('data', read).once('error', giveUp).once('close', giveUp);
  });
}

/** Directly. */
export const toAddress = (host: string, port: number): Promise<Socket | null> =>
  opened(connectTcp({ host, port }), 'connect');
