/** Files that are there whole or not at all. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** On the disk when it returns. A reader sees the old content or the new, never a half; only the owner may read it. */
export function writeAtomically(path: string, content: string): void {
  const draft = `${path}.${process.pid}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
