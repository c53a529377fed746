/** What another user of this machine can reach, and what processes listen on for whoever comes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { execa } from 'execa';

const NOBODY = 65_534;

/** Only root may act as another user. */
export const canBeNobody = process.platform === 'linux' && process.getuid?.() === 0;

/** What connecting there ends in, for another user: `connected`, or the code of the error. */
export async function connectAsNobody(place: { path: string } | { host: string; port: number }): Promise<string> {
  const program = `
    const socket = require('node:net').connect(${JSON.stringify(place)});
    socket.once('connect', () => { console.log('connected'); socket.destroy(); });
    socket.once('error', (error) => console.log(error.code));`;
  const { stdout } = await execa(process.execPath, ['-e', program], { uid: NOBODY, gid: NOBODY, cwd: '/' });
  return stdout;
}

/** The process and all that it started, and so on. */
export function treeOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const);
  const below = (of: number): number[] => [
    of,
    ...parents.filter(([, parent]) => parent === of).flatMap(([child]) => below(child)),
  ];
  return below(pid);
}

/** The ports of this machine on which any of the processes listens. */
export function portsOf(pids: readonly number[]): number[] {
  const held = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/self/net/${table}`, 'latin1')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && held.has(`socket:[${fields[9] ?? ''}]`))
      .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)),
  );
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It has ended.
    return 0;
  }
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
