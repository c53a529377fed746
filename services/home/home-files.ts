/**
 * Files under `SENTINEL_HOME`: its folders, and the services' logs.
 */
import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LOG_BYTES_MAX = 10 * 1024 * 1024;

/** With the folders above it. Node's own `recursive` goes on for ever where a folder can hold no other (/proc). */
export function makeFolders(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process made it at the same time.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** The names of local models (`sentinel models add`). */
export function modelRegistry(home: string): string {
  return join(home, 'models.json');
}

export function logFile(home: string, service: string): string {
  return join(home, 'logs', `${service}.log`);
}

/** Opens a log for appending; one that has grown too large is first set aside, replacing the last such. */
export function openLog(path: string): number {
  makeFolders(dirname(path));
  if (sizeOf(path) > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What a log says from byte `from` on, at most the last `bytesMax` of it. */
export function readLogEnd(path: string, from = 0, bytesMax = 64 * 1024): string {
  const size = sizeOf(path);
  const start = Math.max(from, size - bytesMax);
  if (size <= start) return '';
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(size - start);
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start)).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** The last lines of a log, indented, for the end of an error message. */
export function quoteLog(path: string, from = 0, lines = 12): string {
  const text = readLogEnd(path, from).trimEnd();
  if (text === '') return `(${path} is empty)`;
  return `last lines of ${path}:\n${text
    .split('\n')
    .slice(-lines)
    .map((line) => `  ${line}`)
    .join('\n')}`;
}
