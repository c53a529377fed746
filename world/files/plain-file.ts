/**
 * A small file of a project that says something of it, e.g. `.gitignore`, `package.json`. Its steps may have put a named
 * pipe there, which a reader would wait for, or a file of any size: neither says anything.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const BYTES_MAX = 4 * 1024 * 1024;

/** Null where there is no such file, where it is none, and where it is too large or may not be read. */
export function plainText(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const found = fstatSync(descriptor);
    return found.isFile() && found.size <= BYTES_MAX ? readFileSync(descriptor, 'utf8') : null;
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}
