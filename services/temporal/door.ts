/**
 * The door of a server that only knows how to listen on ports: a network of its own, which nobody outside of it
 * can reach, with a gate inside that listens on sockets in a folder closed to other users and hands on what comes.
 *
 * - The server and its gate end together, and with the process that is kept (`sh`), however that ends.
 * - Where a network of its own cannot be had, there is no door, and the server listens on loopback.
 */
import { join } from 'node:path';
import { ownRoot } from '../home/package-root.ts';
import type { Command } from '../processes/kept-process.ts';
import { runToEnd } from '../processes/run-to-end.ts';
import { fitsSocket, makePrivateFolder, shortFolderFor } from '../processes/sockets.ts';
import { onPath } from './temporal-binary.ts';
import { networkOfOurs } from './inside.ts';

const PROBE_MAX_MS = 5000;

const SOCKETS = { server: 'temporal.sock', web: 'web.sock' } as const;

export interface Door {
  /** The program that makes the network. */
  bubblewrap: string;
  folder: string;
  /** Paths of the sockets. */
  server: string;
  web: string;
}

export type DoorFinding = { ok: true; bubblewrap: string } | { ok: false; reason: string; remedy: string };

/** Whether this machine gives a server a network of its own: it is tried, not guessed. */
export async function findDoor(env: NodeJS.ProcessEnv): Promise<DoorFinding> {
  if (process.platform !== 'linux')
    return {
      ok: false,
      reason: `a network of its own needs Linux, and this is ${process.platform}`,
      remedy: 'Run the services in a Linux machine or container where others use this one.',
    };
  const bubblewrap = onPath('bwrap', env);
  if (bubblewrap === null)
    return { ok: false, reason: 'bubblewrap (bwrap) is not on PATH', remedy: 'Install the package "bubblewrap".' };
  try {
    await runToEnd(bubblewrap, [...isolation(), '--', '/bin/true'], { timeoutMs: PROBE_MAX_MS });
    return { ok: true, bubblewrap };
  } catch (error) {
    return {
      ok: false,
      reason: `bubblewrap does not work here: ${(error instanceof Error ? error.message : String(error)).trim()}`,
      remedy: 'Allow unprivileged user namespaces, as for sandboxed runs (docs/deployment.md).',
    };
  }
}

export function doorOf(home: string, bubblewrap: string): Door {
  const own = join(home, 'sockets');
  const folder = fitsSocket(own, SOCKETS.server) ? own : shortFolderFor(home);
  return { bubblewrap, folder, server: join(folder, SOCKETS.server), web: join(folder, SOCKETS.web) };
}

export function openFolder({ folder }: Door): void {
  makePrivateFolder(folder);
}

/**
 * `server` behind the door. What is kept is a shell, because bubblewrap is to end with the process above it, and
 * that one must not be the supervisor, which the server outlives. SIGTERM goes to the whole group: the gate takes
 * it, and ends the server; bubblewrap does not hear it.
 */
export function behindDoor(door: Door, server: Command): Command {
  const gate = join(ownRoot, 'dist', 'services', 'temporal', 'gate.js');
  const inside = [process.execPath, gate, networkOfOurs(), door.server, door.web, server.command, ...server.args];
  return {
    ...server,
    command: '/bin/sh',
    args: ['-c', KEEPER, 'sh', door.bubblewrap, ...isolation(), '--die-with-parent', '--', ...inside],
  };
}

const KEEPER = `trap 'trap "" TERM; kill -TERM 0' TERM
(trap "" TERM; exec "$@") &
inside=$!
while kill -0 "$inside" 2>/dev/null; do wait "$inside"; done`;

/** Everything but the network and the processes is as outside. Root keeps what lets it write its own files. */
function isolation(): string[] {
  const rights = process.getuid?.() === 0 ? ['--cap-add', 'CAP_DAC_OVERRIDE'] : [];
  return ['--dev-bind', '/', '/', '--unshare-net', '--unshare-pid', ...rights];
}
