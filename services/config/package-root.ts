/** Where this package is. Apart from the settings, which a verb that needs no services does without. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout that holds our package.json: the nearest folder up, from sources and from dist/ alike. */
export const ownRoot: string = findOwnRoot();

function findOwnRoot(): string {
  const from = dirname(fileURLToPath(import.meta.url));
  let folder = from;
  while (!isOurs(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`bug: no package.json of sentinel above ${from}`);
    folder = parent;
  }
  return folder;
}

function isOurs(packageFile: string): boolean {
  if (!existsSync(packageFile)) return false;
  const content: unknown = JSON.parse(readFileSync(packageFile, 'utf8'));
  return typeof content === 'object' && content !== null && 'name' in content && content.name === 'sentinel';
}
