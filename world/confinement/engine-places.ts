/**
 * Where a project holds this engine, and what it loads: a step that wrote there would write the programs that hold
 * the next step in. It is told by what is in `node_modules`, and not by what the package names: a folder that any of
 * its dependencies would be looked for in is read-only as a whole, so that nothing can be added to it either.
 */
import { closeSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBeneath } from './beneath.ts';
import { isBelow, realOf } from '../own-programs/helper-programs.ts';

/** As npm installs it. */
const PACKAGE = 'sentinel-engine';

/** Where tools keep what they can make again; nobody loads a program from there by its name. */
const CACHES: readonly string[] = ['.cache', '.tmp', '.vite', '.vite-temp', '.vitest'];

/** Of a checkout that is the project itself; its sources are what one works on. */
const BUILT: readonly string[] = ['dist', 'sentinel'];

/** The folder of this package: the nearest with a package.json, from the sources and from `dist` alike; without one, as in a bundle of others, where this code lies. */
export const engineRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)));

export function findRoot(own: string): string {
  for (let at = own; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return realOf(at);
    if (at === dirname(at)) return realOf(own);
  }
}

/** Whether a folder called `node_modules` holds the engine, or is one where this engine's dependencies are looked for. */
export const isLoadedFrom = (folder: string, engine: string = engineRoot): boolean =>
  existsSync(join(folder, PACKAGE)) || isBelow(engine, dirname(folder));

/** `real`: in the real root, and whether it exists or not. */
export function isEngine(root: string, real: string, engine: string = engineRoot): boolean {
  if (engine === root ? BUILT.some((name) => isBelow(real, join(root, name))) : isWithin(engine, root, real))
    return true;
  for (let at = real; at !== root && isBelow(at, root); at = dirname(at))
    if (basename(at) === 'node_modules' && isLoadedFrom(at, engine)) return true;
  return false;
}

const isWithin = (engine: string, root: string, real: string): boolean =>
  isBelow(engine, root) && isBelow(real, engine);

export interface EnginePlaces {
  readOnly: string[];
  /** In what is read-only, and writable. */
  caches: string[];
  /** Where a dependency would be looked for first, and nothing is yet. */
  missing: string[];
}

/** `holding`: the folders called `node_modules` that hold an engine, as the search of the project found them. */
export function enginePlaces(root: string, holding: readonly string[], engine: string = engineRoot): EnginePlaces {
  const built = BUILT.map((name) => join(root, name)).filter((path) => existsSync(path));
  const own = engine === root ? built : isBelow(engine, root) ? [engine] : [];
  const from = [...holding.map(dirname), ...(isBelow(engine, root) ? [engine] : [])];
  const looked = new Set(holding);
  for (const start of from)
    for (let at = start; isBelow(at, root); at = dirname(at))
      if (basename(at) !== 'node_modules') looked.add(join(at, 'node_modules'));
  const places = [...new Set([...own, ...looked])];
  const isInner = (place: string): boolean => places.some((other) => other !== place && isBelow(place, other));
  const outer = places.filter((place) => !isInner(place));
  const readOnly = outer.filter((place) => isThere(place));
  const caches = readOnly
    .filter((place) => basename(place) === 'node_modules')
    .flatMap((place) => cachesIn(root, place));
  return { readOnly, caches, missing: outer.filter((place) => !isThere(place)) };
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** They are made where they are missing, since inside nobody can make them. */
function cachesIn(root: string, folder: string): string[] {
  const opened = openBeneath(root, folder);
  if (opened === null) return [];
  try {
    const names = CACHES.filter((name) => isFolder(`/proc/self/fd/${opened}/${name}`));
    return names.map((name) => join(folder, name));
  } finally {
    closeSync(opened);
  }
}

function isFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  }
}
