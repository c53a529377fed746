/**
 * Whether a home was made by this user on this machine. A `.sentinel` that came with a clone would lead every verb
 * to a stranger's servers, so what is in a home is believed only
 *
 * - if the user's own folder has a record of it (state-folder.ts) which names the id that is in the home, or
 * - if `SENTINEL_HOME` names it by an absolute path, or it is the one in the user's home folder.
 *
 * Either has to belong to the user, and be writable for nobody else: whoever owns a folder, or may write it, puts
 * files of their own in the place of those in it. That holds of an empty one, too, in which services are to begin.
 *
 * Every reader of a file that says what services there are, or what was accepted, asks here (home-state.ts).
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { makeFolders } from './home-files.ts';
import { ConfigError } from './config-error.ts';
import { defaultHome } from './package-root.ts';
import { idFile, isKnownHome, readId, recordName, recordNamed, type HomeRecord } from './home-records.ts';
import { isOfUser, isOfUserAlone, stateFolder, writeDecision } from './state-folder.ts';

/**
 * `new`: there is none, or nothing of ours is in it. `foreign`: it was not made here. `shared`: the user names it,
 * and it belongs to somebody else, or others can write it.
 */
export type HomeStanding = 'own' | 'new' | 'foreign' | 'shared';

/** The launcher of a checkout makes it before anything of ours runs. */
const LAUNCH_LOCK = 'launch.lock';

/** Throws `ConfigError` where no folder can be. */
export function homeStanding(home: string): HomeStanding {
  const found = attempt(home, () => statSync(home, { throwIfNoEntry: false }));
  if (found?.isDirectory() === false) throw noHome(home, 'it is a file');
  if (found === undefined || (isOfUser(found) && isEmpty(home))) return 'new';
  if (!needsNoRecord(home) && recordOf(home) === null) return 'foreign';
  return isOfUserAlone(found) ? 'own' : 'shared';
}

/** With which the files of a home are sealed, however it is named; null where it has no record, or not this one. */
export const homeKey = (home: string): string | null => recordOf(home)?.key ?? null;

/**
 * Makes a home, or finds it made. A foreign one is set aside, whole: its databases and logs are somebody else's, too.
 * Throws `ConfigError` where there can be none.
 */
export function makeHome(home: string, say: (text: string) => void = () => undefined): void {
  const standing = homeStanding(home);
  if (standing === 'own') {
    attempt(home, () => accessSync(home, constants.W_OK));
    return recordNamedHome(home);
  }
  if (standing === 'shared') throw new ConfigError(homeDoubtText(home) ?? home);
  if (standing === 'foreign') {
    const aside = setAside(home);
    say(`${home} was not made here, so nothing in it is used; it is kept as ${aside}`);
  }
  makeFolder(home);
  if (needsNoRecord(home)) recordNamedHome(home);
  else adoptHome(home);
}

/** Where no decision can be kept (a container without a home folder), such a home is known by `SENTINEL_HOME` alone. */
function recordNamedHome(home: string): void {
  try {
    if (basename(home) !== '.sentinel' && !isKnownHome(home)) adoptHome(home);
  } catch {
    // Nobody could say so later; the home itself is as good without.
  }
}

/** Records that this home is the user's own. */
export function adoptHome(home: string): void {
  const before = recordNamed(readId(home));
  const id = before?.id ?? randomBytes(16).toString('hex');
  const record = {
    id,
    path: realpathSync(home),
    inode: inodeOf(home),
    key: before?.key ?? randomBytes(32).toString('hex'),
  };
  forgetGone();
  writeDecision(`${JSON.stringify(record, null, 2)}\n`, 'homes', recordName(id));
  if (before !== null) return;
  try {
    writeFileSync(idFile(home), `${id}\n`, { mode: 0o600, flag: readId(home) === null ? 'wx' : 'w' });
  } catch (error) {
    // Another process made it at the same time: the home is the one that its id names.
    if (recordOf(home) === null) throw error;
    rmSync(join(stateFolder(), 'homes', recordName(id)), { force: true });
  }
}

/** Why what is in a home is not used, and what to do; null where it is used. */
export function homeDoubt(home: string): { found: string; remedy: string } | null {
  const standing = homeStanding(home);
  if (standing === 'foreign')
    return {
      found: 'not made by you on this machine, so nothing in it is used',
      remedy: '"sentinel up" keeps it aside and makes a new one; if it is yours, "sentinel trust --home" says so.',
    };
  if (standing === 'shared')
    return {
      found: 'belongs to another user or can be written by others, so nothing in it is used',
      remedy: 'Make it your own (chown, chmod go-w), or name another folder with SENTINEL_HOME.',
    };
  return null;
}

/** The doubt in one sentence. */
export function homeDoubtText(home: string): string | null {
  const doubt = homeDoubt(home);
  return doubt === null ? null : `${home}: ${doubt.found}. ${doubt.remedy}`;
}

/** There are two ways to a home: the default, and one that the user names. Machines that share the latter have each a record, or none. */
export function needsNoRecord(home: string): boolean {
  const place = resolve(home);
  if (place === join(homedir(), '.sentinel')) return true;
  const named = process.env['SENTINEL_HOME'] ?? '';
  // A relative one leads into whatever clone one stands in.
  if (named !== '' && !isAbsolute(named) && resolve(named) === place) return false;
  return place !== defaultHome();
}

function recordOf(home: string): HomeRecord | null {
  const record = recordNamed(readId(home));
  if (record === null) return null;
  return record.path === realpathSync(home) || record.inode === inodeOf(home) ? record : null;
}

function inodeOf(home: string): string {
  const { dev, ino } = statSync(home, { bigint: true });
  return `${dev}:${ino}`;
}

const isEmpty = (home: string): boolean => {
  try {
    return readdirSync(home).every((name) => name === LAUNCH_LOCK);
  } catch {
    return false;
  }
};

function setAside(home: string): string {
  const aside = `${home}.foreign-${Date.now()}`;
  try {
    renameSync(home, aside);
  } catch (error) {
    const finding = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `${home} was not made here and cannot be set aside (${finding}): move it away, or name another folder with SENTINEL_HOME.`,
    );
  }
  return aside;
}

const noHome = (home: string, finding: string): ConfigError =>
  new ConfigError(
    `${home} cannot hold the data of services (${finding}): name a folder that you may write with SENTINEL_HOME.`,
  );

function attempt<Result>(home: string, deed: () => Result): Result {
  try {
    return deed();
  } catch (error) {
    throw noHome(home, error instanceof Error ? error.message : String(error));
  }
}

/** Others may enter: where the worker is root, Postgres runs as another user. */
const FOLDER_MODE = 0o755;

function makeFolder(home: string): void {
  attempt(home, () => {
    makeFolders(home, FOLDER_MODE);
    if (isOfUserAlone(statSync(home))) return;
    chmodSync(home, FOLDER_MODE);
    if (!isEmpty(home)) throw new Error('others could write it, and somebody has just done so');
  });
}

const forgottenAfterMs = 180 * 86_400_000;

/** Records of homes that have long been gone: one that was moved is still known by its id. */
function forgetGone(): void {
  const folder = join(stateFolder(), 'homes');
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names) {
    const record = recordNamed(name.replace(/\.json$/, ''));
    const isGone = record !== null && statSync(record.path, { throwIfNoEntry: false }) === undefined;
    if (isGone && Date.now() - statSync(join(folder, name)).mtimeMs > forgottenAfterMs)
      rmSync(join(folder, name), { force: true });
  }
}
