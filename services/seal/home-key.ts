/**
 * The key of a home: made by whichever process first needs it, and for its owner alone to read. What is
 * sealed with it cannot be opened without it, so it belongs into every copy of the home.
 */
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../home/config-error.ts';
import { homeStanding, makeHome } from '../home/own-home.ts';
import { isOfUser } from '../home/state-folder.ts';
import { keysFault, keysIn, newKeyText, type SealKeys } from '../config/seal-key.ts';

const OTHERS = 0o077;

export const homeKeyFile = (home: string): string => join(home, 'seal.key');

export function homeKeys(home: string): SealKeys {
  makeHome(home);
  const file = homeKeyFile(home);
  return readKeyFile(file) ?? made(file);
}

/** Makes none. The key of a home that came from elsewhere is known to whoever made it. */
export const homeKeysIfThere = (home: string): SealKeys | null =>
  homeStanding(home) === 'own' ? readKeyFile(homeKeyFile(home)) : null;

/** As it is written down, for who keeps it out of what is shown; null where there is none. */
export function homeKeyText(home: string): string | null {
  try {
    return readFileSync(homeKeyFile(home), 'utf8').trim();
  } catch {
    return null;
  }
}

/** A whole file appears at once under the name, and only where there is none: of two processes one key remains. */
function made(file: string): SealKeys {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${newKeyText()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!isTaken(error)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const keys = readKeyFile(file);
  if (keys === null) throw new Error(`bug: ${file} is gone as soon as it was made`);
  return keys;
}

/** Null where there is no such file. */
function readKeyFile(file: string): SealKeys | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (process.platform !== 'win32' && (found.mode & OTHERS) !== 0)
    throw new ConfigError(
      `${file} can be read by other users, and whoever has this key can start and steer runs: "chmod 600 ${file}", and replace the key if others may have read it.`,
    );
  if (!isOfUser(found))
    throw new ConfigError(
      `${file} belongs to another user, who knows this key and can start and steer runs with it: remove it, and a new one is made; what was sealed with the old one stays sealed.`,
    );
  const text = readFileSync(file, 'utf8');
  const fault = keysFault(text);
  if (fault !== null) throw new ConfigError(`${file} ${fault}. Put it back from a copy of this home.`);
  return keysIn(text);
}

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';
