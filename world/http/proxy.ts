/**
 * Which proxy the environment names for a server elsewhere, as the programs of this machine read it: by either spelling,
 * small letters first. What is on this machine is never asked through one.
 */
import { BlockList, isIP } from 'node:net';

export interface Proxy {
  /** With the user and the password, where it has some. */
  url: URL;
  /** That names it. */
  variable: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A variable names a proxy that nobody can be asked through. */
export class UnusableProxy extends Error {
  readonly variable: string;

  constructor(variable: string) {
    super(`${variable} is no address of a proxy; write http://HOST:PORT`);
    this.variable = variable;
  }
}

const KINDS = new Set(['http:', 'https:', 'socks5:', 'socks:']);
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Null: it is asked directly. Throws `UnusableProxy`. */
export function proxyFor(address: URL, env: Environment = process.env): Proxy | null {
  if (isOnThisMachine(address) || isExcepted(address, env)) return null;
  return proxyOf(address.protocol === 'https:' ? 'https' : 'http', env);
}

/** Of a kind of address, whichever server is asked. */
export function proxyOf(kind: 'http' | 'https', env: Environment = process.env): Proxy | null {
  for (const name of [`${kind}_proxy`, 'all_proxy'])
    for (const variable of [name, name.toUpperCase()]) {
      const given = env[variable]?.trim() ?? '';
      if (given !== '') return { variable, url: read(variable, given) };
    }
  return null;
}

function read(variable: string, given: string): URL {
  // Of SOCKS there are words for who looks names up: here it is always the proxy.
  const text = given.includes('://') ? given.replace(/^socks5h:/i, 'socks5:') : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !KINDS.has(url.protocol) || url.hostname === '') throw new UnusableProxy(variable);
  return url;
}

/** Without the user and the password. */
export const shownProxy = ({ url, variable }: Proxy): string => `${url.protocol}//${url.host} (${variable})`;

/** What the proxy is told of who asks; null where it is told nothing. */
export function authorizationOf({ url: { username, password } }: Proxy): string | null {
  if (username === '') return null;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('0.0.0.0');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

export function isOnThisMachine(address: URL): boolean {
  const host = hostOf(address);
  return host === 'localhost' || host.endsWith('.localhost') || isIn(loopback, host);
}

const hostOf = ({ hostname }: URL): string =>
  hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();

function isIn(list: BlockList, host: string): boolean {
  const kind = isIP(host);
  return kind !== 0 && list.check(host, kind === 4 ? 'ipv4' : 'ipv6');
}

export const exceptionsIn = (env: Environment): string => env['no_proxy']?.trim() || env['NO_PROXY']?.trim() || '';

function isExcepted(address: URL, env: Environment): boolean {
  const port = Number(address.port) || (PORTS[address.protocol] ?? 0);
  return exceptionsIn(env)
    .split(/[,\s]+/)
    .some((entry) => entry !== '' && covers(entry.toLowerCase(), hostOf(address), port));
}

/** An entry is `*`, a name (of a host, and of all below it), an address or a network; with a port, it is for that alone. */
function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const [, name = '', only] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ['', entry];
  if (only !== undefined && Number(only) !== port) return false;
  const bare = name.replace(/^\[(.*)\]$/, '$1').replace(/^\*?\./, '');
  const [network = '', bits] = bare.split('/');
  const kind = isIP(network);
  if (kind === 0) return bare !== '' && (host === bare || host.endsWith(`.${bare}`));
  return isIn(networkOf(network, kind === 4 ? 'ipv4' : 'ipv6', bits), host);
}

function networkOf(network: string, family: 'ipv4' | 'ipv6', bits: string | undefined): BlockList {
  const list = new BlockList();
  const [length, most] = [Number(bits), family === 'ipv4' ? 32 : 128];
  if (bits === undefined) list.addAddress(network, family);
  else if (Number.isInteger(length) && length >= 0 && length <= most) list.addSubnet(network, length, family);
  return list;
}
