/**
 * The folder in which a user's own decisions are kept: what was trusted, and which homes were made here. It is the
 * user's on this machine, outside of every project, so nothing that comes with a clone is in it.
 */
import { readFileSync, statSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ConfigError } from './config-error.ts';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { makeFolders } from './home-files.ts';

/** By the XDG specification, a relative path counts as none; here it would lie in whatever project one is in. */
export function stateFolder(): string {
  const given = process.env['XDG_STATE_HOME'] ?? '';
  return join(isAbsolute(given) ? given : join(homedir(), '.local', 'state'), 'sentinel');
}

/** Null where there is no such file, or where somebody else could have written it. */
export function readDecision(...path: string[]): string | null {
  const file = join(stateFolder(), ...path);
  try {
    const isTrusted = [stateFolder(), file].every((place) => isOfUserAlone(statSync(place)));
    return isTrusted ? readFileSync(file, 'utf8') : null;
  } catch {
    // There is none, or nobody here can look.
    return null;
  }
}

/** Throws `ConfigError` where the folder cannot be written, or where others can write it. */
export function writeDecision(content: string, ...path: string[]): void {
  const folder = stateFolder();
  const file = join(folder, ...path);
  try {
    makeFolders(join(file, '..'), 0o700);
    if (!isOfUserAlone(statSync(folder))) throw new Error('others can write it, or it belongs to somebody else');
    writeAtomically(file, content);
  } catch (error) {
    const finding = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `${folder} cannot keep what you decide (${finding}): make it writable for you alone, or name another folder with XDG_STATE_HOME.`,
    );
  }
}

/** Everybody's where the system knows no users by number. */
export const isOfUser = ({ uid }: Pick<Stats, 'uid'>): boolean =>
  process.getuid === undefined || uid === process.getuid();

/** Whether only this user can have written it; a group that is the user's own, as many systems give, counts as the user. */
export function isOfUserAlone({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): boolean {
  const user = process.getuid?.();
  if (user === undefined) return true;
  if (uid !== user || (mode & 0o002) !== 0) return false;
  return (mode & 0o020) === 0 || (gid === user && gid === process.getgid?.());
}
