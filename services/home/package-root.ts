/** Where this package is. Apart from the settings, which a verb that needs no services does without. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As programs import it, and npm installs it. */
export const PACKAGE = 'sentinel-engine';

/** The folder that holds our package.json: the nearest folder up, from sources and from dist/ alike. */
export const ownRoot: string = findOwnRoot();

function findOwnRoot(): string {
  const from = dirname(fileURLToPath(import.meta.url));
  let folder = from;
  while (!isOurs(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`bug: no package.json of ${PACKAGE} above ${from}`);
    folder = parent;
  }
  return folder;
}

function isOurs(packageFile: string): boolean {
  if (!existsSync(packageFile)) return false;
  const content: unknown = JSON.parse(readFileSync(packageFile, 'utf8'));
  return typeof content === 'object' && content !== null && 'name' in content && content.name === PACKAGE;
}

/**
 * Where services and their data are unless `SENTINEL_HOME` says otherwise: in the checkout; installed, in the project
 * that it is installed in; and in the user's home where no project has it (installed globally, or run by npx alone).
 */
export function defaultHome(packageRoot: string = ownRoot, userHome: string = homedir()): string {
  const folders = packageRoot.split(sep);
  const at = folders.indexOf('node_modules');
  if (at === -1) return join(packageRoot, '.sentinel');
  const project = folders.slice(0, at).join(sep);
  const isProject = existsSync(join(project, 'package.json')) && !folders.slice(0, at).includes('_npx');
  return join(isProject ? project : userHome, '.sentinel');
}
