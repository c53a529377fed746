/** Where a package is that a file imports, and all of its files: which of them a condition selects does not matter. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEFT_OUT = new Set(['node_modules', '.git', '.sentinel']);

/** The real folder of the package; null where it is not installed. */
export function packageFolder(from: string, written: string): string | null {
  const parts = written.split('/');
  const name = written.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
  if (!/^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(name)) return null;
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(folder)) return realpathSync(folder);
    if (dirname(at) === at) return null;
  }
}

/** Real paths; what it has of its own in node_modules are packages for themselves. */
export function packageFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return packageFiles(path);
    return entry.isFile() ? [path] : [];
  });
}
