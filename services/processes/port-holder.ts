/** Which process listens on a port of this machine, as far as the system tells. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { LOOPBACK } from './ports.ts';
import { runToEnd } from './run-to-end.ts';

const PROGRAM_LENGTH_MAX = 240;
const ASK_MAX_MS = 3000;
/** How /proc/net/tcp writes that a socket listens. */
const LISTENS = '0A';

export interface PortHolder {
  pid: number;
  /** Its command line, shortened. */
  program: string;
}

/** Null where nobody listens, or the system does not say who: it names other users' processes to root alone. */
export async function portHolder(host: string, port: number): Promise<PortHolder | null> {
  try {
    return process.platform === 'linux' ? await holderInProc(host, port) : await holderByLsof(port);
  } catch {
    // No /proc, or no such program: then nobody tells.
    return null;
  }
}

async function holderInProc(host: string, port: number): Promise<PortHolder | null> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  const listeners = tables.flatMap((table) => listenersIn(table, port));
  const there = listeners.filter(({ address }) => /^0+$/.test(address) || address === hexOf(host));
  const sockets = new Set((there.length > 0 ? there : listeners).map(({ inode }) => `socket:[${inode}]`));
  if (sockets.size === 0) return null;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (!(await holdsAny(pid, sockets))) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return { pid: Number(pid), program: shown(line.split('\0').join(' ')) };
  }
  return null;
}

/** A line is `sl local_address rem_address st … inode …`, an address its bytes in hexadecimal digits and the port. */
function listenersIn(table: string, port: number): { address: string; inode: string }[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state] = fields;
    const [address = '', number = ''] = local.split(':');
    const inode = fields[9];
    return state === LISTENS && Number.parseInt(number, 16) === port && inode !== undefined ? [{ address, inode }] : [];
  });
}

/** As the table writes an IPv4 address: the last byte first. */
function hexOf(host: string): string {
  const bytes = (host === 'localhost' ? LOOPBACK : host).split('.').map(Number);
  return bytes
    .toReversed()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

async function holdsAny(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  // Another user's process cannot be read, and one that has just ended is gone.
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.some((link) => sockets.has(link));
}

async function holderByLsof(port: number): Promise<PortHolder | null> {
  const said = await runToEnd('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { timeoutMs: ASK_MAX_MS });
  const [, pid, program = ''] = /^p(\d+)\n(?:[^\n]*\n)*?c([^\n]*)/.exec(said) ?? [];
  return pid === undefined ? null : { pid: Number(pid), program: shown(program) };
}

/** A program names itself as it likes: what would steer a terminal is left out. */
function shown(line: string): string {
  const text = line.replaceAll(/\p{C}/gu, '').trim();
  return text.length <= PROGRAM_LENGTH_MAX ? text : `${text.slice(0, PROGRAM_LENGTH_MAX - 1)}…`;
}
