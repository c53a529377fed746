/**
 * Records of the homes that the user has made on this machine (state-folder.ts): each names the id that is in the home.
 * Whoever does not know the id cannot make a folder look like a home. Apart from the rest, since what holds steps in
 * asks, too, wherever its code lies.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { readDecision, stateFolder } from './state-folder.ts';

/** The variables that say where the folders of this user's Sentinel are. */
export const FOLDERS_NAMED_BY = [
  'SENTINEL_HOME',
  'SENTINEL_CACHE',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'HOME',
] as const;

/** The folders of this user's Sentinel, as its programs find them: the home that is named, decisions, and the cache. */
export function foldersOfSentinel(env: NodeJS.ProcessEnv = process.env): string[] {
  const { SENTINEL_HOME: home = '' } = env;
  return [...(home === '' ? [] : [resolve(home)]), resolve(stateFolder()), cacheFolder(env)];
}

/** Absolute; one for all homes of the user. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { SENTINEL_CACHE: cache = '', XDG_CACHE_HOME: caches = '' } = env;
  return resolve(cache !== '' ? cache : join(caches !== '' ? caches : join(homedir(), '.cache'), 'sentinel'));
}

/** Where runs have workspaces of their own. */
export const workspacesFolder = (): string => join(cacheFolder(), 'workspaces');

const Id = z.string().regex(/^[0-9a-f]{32}$/);
export const HomeRecord = z.strictObject({ id: Id, path: z.string(), inode: z.string(), key: z.string().min(32) });
export type HomeRecord = z.infer<typeof HomeRecord>;

/** The file by which a home is known. */
export const HOME_ID = 'home.id';
export const idFile = (home: string): string => join(home, HOME_ID);
export const recordName = (id: string): string => `${id}.json`;

export function recordNamed(id: string | null): HomeRecord | null {
  const text = id === null ? null : readDecision('homes', recordName(id));
  if (text === null) return null;
  try {
    return HomeRecord.parse(JSON.parse(text));
  } catch {
    // Half written by a full disk: then it names no home.
    return null;
  }
}

const idBytesMax = 64;

/** A step may have made a file of this name in its project: a named pipe, which one would wait for, or a large one. */
export function readId(home: string): string | null {
  try {
    const descriptor = openSync(idFile(home), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(descriptor);
      return found.isFile() && found.size <= idBytesMax ? Id.parse(readFileSync(descriptor, 'utf8').trim()) : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/** Whatever its name; a copy of a home is one, too. */
export const isKnownHome = (folder: string): boolean =>
  existsSync(idFile(folder)) && recordNamed(readId(folder)) !== null;
