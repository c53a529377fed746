/**
 * Whether what listens on a port of this host belongs to Sentinel, of whichever user and installation: a Temporal
 * server or Postgres, a worker, a supervisor, a command line, or what these hold open. A model may look at the pages
 * of a project's own server, and at none of these; nor where nobody can tell.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { findHelper, runHelper } from '../own-programs/helper-programs.ts';

/** Why no model is shown it; null: it may be. */
export type Denied = 'it is a service of Sentinel' | 'nobody can tell whose it is' | null;

const SERVERS = /^(?:temporal(?:ite|-server|-test-server.*)?|tctl|postgres|postmaster)(?:\.exe)?:?$/;
const PACKAGE = 'sentinel-engine';
const askMaxMs = 3_000;
/** How /proc/net/tcp writes that a socket listens. */
const LISTENS = '0A';

export async function deniedOf(port: number): Promise<Denied> {
  try {
    return process.platform === 'linux' ? await deniedInProc(port) : await deniedByLsof(port);
  } catch {
    return 'nobody can tell whose it is';
  }
}

interface Listener {
  uid: string;
  inode: string;
}

async function deniedInProc(port: number): Promise<Denied> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  const listeners = tables.flatMap((table) => listenersIn(table, port));
  // Nobody listens: what connects will say so.
  if (listeners.length === 0) return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const holders = await Promise.all(pids.map(async (pid) => ((await holds(pid, listeners)) ? pid : null)));
  const found = holders.filter((pid) => pid !== null);
  if (found.length > 0) return found.some((pid) => isOurs(pid)) ? 'it is a service of Sentinel' : null;
  // The sockets of other users are not shown to us; what these users run is.
  const users = new Set(listeners.map(({ uid }) => uid));
  const theirs = pids.filter((pid) => users.has(uidOf(pid)));
  if (theirs.length === 0) return 'nobody can tell whose it is';
  return theirs.some((pid) => isOurs(pid)) ? 'nobody can tell whose it is' : null;
}

/** A line is `sl local_address rem_address st … uid timeout inode …`. */
function listenersIn(table: string, port: number): Listener[] {
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state] = fields;
    const [uid, inode] = [fields[7], fields[9]];
    const isThere = state === LISTENS && Number.parseInt(local.split(':')[1] ?? '', 16) === port;
    return isThere && uid !== undefined && inode !== undefined ? [{ uid, inode }] : [];
  });
}

async function holds(pid: string, listeners: readonly Listener[]): Promise<boolean> {
  const sockets = new Set(listeners.map(({ inode }) => `socket:[${inode}]`));
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.some((link) => sockets.has(link));
}

function uidOf(pid: string): string {
  try {
    return /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}

function isOurs(pid: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return isOurProgram(words, `/proc/${pid}/cwd`);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** By what was started, and not by how it calls itself in a title. */
function isOurProgram(words: readonly string[], folder: string): boolean {
  const [program = '', ...rest] = words;
  if (SERVERS.test(basename(program.split(' ')[0] ?? ''))) return true;
  const script = rest.find((word) => !word.startsWith('-') && word !== '');
  return script !== undefined && /\.[cm]?[jt]s$|^[^.]+$/.test(basename(script)) && isOfPackage(resolve(folder, script));
}

function isOfPackage(file: string): boolean {
  if (!isAbsolute(file)) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    const manifest = join(at, 'package.json');
    // The nearest one is the file's own.
    if (existsSync(manifest)) return namesPackage(manifest);
    if (at === dirname(at)) return false;
  }
}

function namesPackage(manifest: string): boolean {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: unknown }).name === PACKAGE;
  } catch {
    return false;
  }
}

async function deniedByLsof(port: number): Promise<Denied> {
  const lsof = findHelper('lsof');
  if (lsof === null) return 'nobody can tell whose it is';
  const { stdout } = await runHelper(lsof, ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fp'], { timeoutMs: askMaxMs });
  const pids = Array.from(stdout.matchAll(/^p(\d+)$/gm), ([, pid = '']) => pid);
  if (pids.length === 0) return 'nobody can tell whose it is';
  const ps = findHelper('ps');
  if (ps === null) return 'nobody can tell whose it is';
  const { stdout: lines } = await runHelper(ps, ['-o', 'command=', '-p', pids.join(',')], { timeoutMs: askMaxMs });
  const isAny = lines.split('\n').some((line) => line !== '' && isOurProgram(line.split(' '), '/'));
  return isAny ? 'it is a service of Sentinel' : null;
}
