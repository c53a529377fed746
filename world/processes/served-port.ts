/**
 * Which port a process serves: the one its output names first (`http://localhost:3000`,
 * `listening on port 8080`), or, on Linux, the lowest one that it or a process it started listens on.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { processesOfGroup } from './processes.ts';

const ADDRESS = /(?:https?:\/\/[\w.-]+|localhost|\[[0-9a-fA-F:]*\]|\b\d{1,3}(?:\.\d{1,3}){3}):(\d{2,5})\b/;
const WORD = /\bport\b\W{0,3}(\d{2,5})\b/i;
const LISTENING = '0A';

// Terminals' colours stand between the words that matter.
const escapes = new RegExp(String.raw`\u001B\[[0-9;]*[A-Za-z]`, 'g');

export function portIn(line: string): number | null {
  const text = line.replaceAll(escapes, '');
  const port = Number((ADDRESS.exec(text) ?? WORD.exec(text))?.[1] ?? 0);
  return port > 0 && port < 65_536 ? port : null;
}

export async function listeningPort(group: number): Promise<number | null> {
  const sockets = await listeningSockets();
  const ports = new Set<number>();
  for (const pid of sockets.size === 0 ? [] : await processesOfGroup(group)) {
    for (const inode of await socketsOf(pid)) {
      const port = sockets.get(inode);
      if (port !== undefined) ports.add(port);
    }
  }
  return ports.size === 0 ? null : Math.min(...ports);
}

/** Ports by the inode of the socket that listens on them. Empty where there is no /proc. */
async function listeningSockets(): Promise<Map<string, number>> {
  const sockets = new Map<string, number>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const table = await readFile(file, 'latin1').catch(() => '');
    for (const row of table.split('\n').slice(1)) {
      const fields = row.trim().split(/\s+/);
      const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
      if (fields[3] === LISTENING && fields[9] !== undefined && port > 0) sockets.set(fields[9], port);
    }
  }
  return sockets;
}

async function socketsOf(pid: number): Promise<string[]> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
