/**
 * Folders for Unix sockets. A socket is as closed as the folder that it lies in, so each of these is for one user
 * alone, and is refused where it is anybody else's.
 */
import { createHash } from 'node:crypto';
import { chownSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../home/home-files.ts';
import { ServicesError } from '../config/services-error.ts';

/** Kernels keep a socket's path in about a hundred bytes. */
const SOCKET_PATH_MAX = 100;

/** Where a home's own path is too long for sockets. */
export function shortFolderFor(home: string): string {
  return join(process.env['XDG_RUNTIME_DIR'] ?? '/tmp', `sentinel-${process.getuid?.() ?? 0}-${nameOfHome(home)}`);
}

/** As an address of Temporal's. */
export const addressOfSocket = (path: string): string => `unix:${path}`;

/** The path in an address; null where it names a host. */
export const socketIn = (address: string): string | null =>
  address.startsWith('unix:/') ? address.slice('unix:'.length) : null;

export function fitsSocket(folder: string, name: string): boolean {
  return Buffer.byteLength(join(folder, name)) <= SOCKET_PATH_MAX;
}

/** A short name of its own for each home. */
export function nameOfHome(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 12);
}

/** Made where it is not there. `owner`: root gives it to the user whose process listens there. */
export function makePrivateFolder(folder: string, owner: number | undefined = process.getuid?.()): void {
  makeFolders(folder, 0o700);
  if (process.getuid?.() === 0 && owner !== undefined && lstatSync(folder).uid === 0) chownSync(folder, owner, -1);
  const found = lstatSync(folder);
  const isOwn = found.isDirectory() && (owner === undefined || found.uid === owner) && (found.mode & 0o077) === 0;
  if (!isOwn)
    throw new ServicesError(
      `${folder} is to hold the sockets of the services, and is not a folder of this user that is closed to others: remove it.`,
    );
}
