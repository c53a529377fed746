/** The text of a definition in a file: what cannot be read is a problem like any other. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { definitionBytesMax } from '../../language/limits.ts';
import type { Problem } from '../../language/problems.ts';

export function textOfFile(file: string): { text: string } | { problem: Problem } {
  try {
    if (statSync(file).isDirectory()) return unreadable(`${file} is a folder; give the path of a file`);
    const bytes = readBounded(file, definitionBytesMax + 1);
    if (bytes.length > definitionBytesMax) {
      const message = `${file} is larger than the ${definitionBytesMax} bytes a definition may have: keep data in files or in the store`;
      return { problem: { code: 'TOO_LARGE', severity: 'error', path: '', message } };
    }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return unreadable(`${file} ${reasonOf(error)}`);
  }
}

function unreadable(message: string): { problem: Problem } {
  return { problem: { code: 'FILE_NOT_READABLE', severity: 'error', path: '', message } };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist; check the path';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read; check its permissions';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text; save it as UTF-8';
  return `cannot be read (${error instanceof Error ? error.message : String(error)})`;
}

/** Never more than `bytesMax`, whatever the file says of its size. */
function readBounded(file: string, bytesMax: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(bytesMax);
    let length = 0;
    while (length < bytesMax) {
      const count = readSync(descriptor, buffer, length, bytesMax - length, null);
      if (count === 0) break;
      length += count;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
