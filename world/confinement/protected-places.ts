/**
 * Places inside a project that a definition does not reach.
 *
 * - P1 A home of Sentinel (`SENTINEL_HOME`, every `.sentinel`, whatever its user has a record of, and copies of these), and
 *      the folders of its user's decisions and of its cache: the
 *      passwords and logs of the services. No command reads or writes it, and a sandbox does not show it.
 * - P2 Repositories, the project's own and nested ones, whatever their names (repositories.ts): configuration, hooks and
 *      attributes are programs that run later. Commands do not write it, and in a sandbox it is read-only; git's writes go through `code/git`.
 * - P3 `sentinels/`, also one of a folder in the project, `.continuum`, `system/recipes` and `sentinel.config.*`: the command line runs them later. A sandboxed step finds them
 *      read-only, and so does `code/write` there; where there is none, a step that makes one is ended, and
 *      what it made is set aside. So it is with a `.sentinel` of the project, which would be taken for a home.
 *      The same goes for the engine itself where the project holds it, and for what it loads (engine-places.ts).
 * - P4 Files that hold secrets by their names (`.env`, keys, credentials): no command reads or writes one that
 *      the definition does not name.
 *
 * - P5 Sockets: behind one that is there somebody listens (a database, a supervisor of processes), who does outside of the
 *      sandbox what is asked; a sandbox finds none of them. Those that a step makes are its own.
 *
 * A model reaches less than a definition does: of P2 and P3 it reads nothing of a repository and writes neither,
 * whatever the mode. What `safety.allowFiles` names it may reach, but for homes.
 */
import { randomBytes } from 'node:crypto';
import { type Dirent, existsSync, watch } from 'node:fs';
import { lstat, readdir, rename } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, dirname, join, relative, sep } from 'node:path';
import { FOLDERS_NAMED_BY, foldersOfSentinel, HOME_ID, isKnownHome } from '../../services/home/home-records.ts';
import { DEFINITION_ENDINGS, isDefinitionFile } from '../../language/read/text/definition-text.ts';
import { isSecretFile, plainName, SECRET_GLOBS } from '../../language/rights/secret-files.ts';
import { Failure } from '../failures/failures.ts';
import { enginePlaces, isEngine, isLoadedFrom } from './engine-places.ts';
import { isBelow, realOf } from '../own-programs/helper-programs.ts';
import { holdsGit, isGitFolder, isRepositoryName, leadsTo } from './repositories/repositories.ts';
import { plainText } from '../files/plain-file.ts';
import { listeningSockets } from './system-view.ts';

/** Of the project, and of each folder in it: whoever stands there runs its definitions by their names. */
const DEFINITIONS = 'sentinels';
const RUN_LATER = [
  DEFINITIONS,
  '.continuum',
  'system/recipes',
  'sentinel.config.ts',
  'sentinel.config.js',
  'sentinel.config.mjs',
];

/** Those that are there do not move while a worker runs, and every path of every step is held against them. */
const realOfOwn = new Map<string, string>();
let known: { named: string; folders: string[] } | undefined;

/** The folders that belong to this worker, as they resolve: its home, where its user's decisions are kept, its cache. */
export function ownFolders(): string[] {
  const named = FOLDERS_NAMED_BY.map((name) => process.env[name]).join('\n');
  if (known?.named === named) return known.folders;
  const spelled = foldersOfSentinel();
  const folders = spelled.map(settled);
  if (spelled.every((path) => realOfOwn.has(path))) known = { named, folders };
  return folders;
}

function settled(path: string): string {
  const before = realOfOwn.get(path);
  if (before !== undefined) return before;
  const real = realOf(path);
  if (existsSync(real)) realOfOwn.set(path, real);
  return real;
}

/** With those that were set aside. */
const NAMED = /^\.sentinel(?:\.foreign-\d+)?$/;

const isNamedHome = (folder: string, own: readonly string[]): boolean =>
  NAMED.test(plainName(basename(folder))) || own.includes(folder);

export type Protection = 'home' | 'repository' | 'secrets' | 'run-later';

/** Why a real path inside a real root is out of reach; null where it is not. */
export function protectionOf(root: string, real: string): Protection | null {
  const parts = relative(root, real).split(sep).filter(Boolean);
  const own = ownFolders();
  let at = root;
  let isInGit = false;
  for (const part of parts) {
    at = join(at, part);
    if (isNamedHome(at, own)) return 'home';
    // A file holds nothing.
    if (at === real && !isFolder(at)) break;
    if (isKnownHome(at)) return 'home';
    isInGit ||= isGitFolder(at);
  }
  const names = parts.map(plainName);
  if (isInGit || names.some(isRepositoryName)) return 'repository';
  if (isSecretFile(parts)) return 'secrets';
  const isRunLater = isRunLaterPlace(names) || isInnerDefinition(names) || isEngine(root, real);
  return isRunLater ? 'run-later' : null;
}

const isFolder = (path: string): boolean => existsSync(`${path}${sep}.`);

function isRunLaterPlace(names: readonly string[]): boolean {
  const path = names.join('/');
  return RUN_LATER.some((place) => path === place || path.startsWith(`${place}/`));
}

/** A definition of a folder in the project; packages are run by nobody who stands in them. */
const isInnerDefinition = (names: readonly string[]): boolean =>
  !names.includes('node_modules') && names.slice(1, -1).includes(DEFINITIONS) && isDefinitionFile(names.at(-1) ?? '');

/** What git leaves out of whatever it is asked for in a project, as it takes it. */
export async function homesLeftOut(project: string): Promise<string[]> {
  const root = realOf(project);
  const { homes } = await findProtectedPlaces(root);
  const paths = homes.map((home) => patternOf(relative(root, home).split(sep).join('/')));
  return ['**/.sentinel/**', ...paths.flatMap((path) => [path, `${path}/**`])].map(
    (path) => `:(exclude,glob${path.startsWith('**') ? ',icase' : ''})${path}`,
  );
}

/**
 * The path as a pattern that is no plain name: a plain name of what is ignored makes `git add` fail, also where it
 * is to be left out.
 */
const patternOf = (path: string): string =>
  path.replaceAll(/[\\*?[\]]/g, '\\$&').replace(/^([^/]*?)([\w.-])/, '$1[$2]');

/** The same for files with secrets, where a model asks. */
export const SECRETS_LEFT_OUT: readonly string[] = SECRET_GLOBS.map((glob) => `:(exclude,glob,icase)${glob}`);

/** And for what runs later, where a model or a `sandboxed` run has something written; a link of that name leads to definitions. */
export const RUN_LATER_LEFT_OUT: readonly string[] = [
  ...RUN_LATER.map((name) => `:(exclude,icase)${name}`),
  `:(exclude,glob,icase)**/${DEFINITIONS}`,
  ...DEFINITION_ENDINGS.map((ending) => `:(exclude,glob,icase)**/${DEFINITIONS}/**/*${ending}`),
];

/** An engine may load them; a sandbox itself holds those of the engine. */
export const PACKAGES_LEFT_OUT: readonly string[] = [':(exclude,glob,icase)**/node_modules/**'];

/** A file with secrets, or a folder of them, and the link by whose name it is one. */
export interface SecretPlace {
  place: string;
  link?: string;
}

export interface ProtectedPlaces {
  homes: string[];
  repositories: string[];
  /** Repositories without a work tree, to which nothing leads. */
  bare: string[];
  secrets: SecretPlace[];
  /** Behind them somebody listens who stands outside of every sandbox. */
  sockets: string[];
  runLater: string[];
  /** Folders in these, and writable. */
  caches: string[];
  /** Where the command line would look for what it runs, and nothing is yet. */
  missing: string[];
}

interface Folder {
  path: string;
  /** Below the root. */
  names: readonly string[];
}

interface Found extends Pick<ProtectedPlaces, 'homes' | 'repositories' | 'bare' | 'secrets' | 'sockets' | 'runLater'> {
  /** Folders called `node_modules` that hold an engine. */
  holding: string[];
}

/** Enough to keep the threads busy that read folders. */
const readAtOnce = 16;

/** The places of P1 to P4 in a project, at any depth. Nothing is kept: a process may move them the next moment. */
export async function findProtectedPlaces(root: string): Promise<ProtectedPlaces> {
  const found: Found = {
    homes: [],
    repositories: [],
    bare: [],
    secrets: [],
    sockets: [],
    runLater: [],
    holding: [],
  };
  const own = ownFolders();
  const waiting: Folder[] = [{ path: root, names: [] }];
  while (waiting.length > 0) {
    const next = waiting.splice(-readAtOnce);
    const read = await Promise.all(next.map(({ path }) => entriesOf(path)));
    for (const [index, folder] of next.entries()) {
      const entries = read[index] ?? null;
      if (entries !== null) waiting.push(...sort({ root, own }, folder, entries, found));
      else if (folder.names.length > 0) found.homes.push(folder.path);
      else throw new Failure('SANDBOX_NOT_AVAILABLE', unreadable(folder.path));
    }
  }
  const { holding, ...places } = found;
  const repositories = outermost(found.repositories);
  const runLater = [...new Set(found.runLater)];
  const engine = enginePlaces(root, holding);
  const laters = RUN_LATER.map((name) => join(root, name));
  const usual = join(root, '.sentinel');
  const there = await Promise.all(laters.map(isThere));
  return {
    ...places,
    repositories,
    sockets: await listenedTo(found.sockets),
    bare: found.bare.filter((path) => !repositories.includes(path)),
    runLater: [...laters.filter((_path, index) => there[index]), ...runLater, ...engine.readOnly],
    caches: engine.caches,
    missing: [
      ...laters.filter((_path, index) => !there[index]),
      ...((await isThere(usual)) ? [] : [usual]),
      ...engine.missing,
    ],
  };
}

/**
 * A socket that a process left behind which has ended refuses whoever asks, and is the step's to remove. Services of this
 * host are known by the kernel's list, and not disturbed; who listens in a container or in another sandbox is asked.
 */
async function listenedTo(sockets: readonly string[]): Promise<string[]> {
  if (sockets.length === 0) return [];
  const listed = listeningSockets();
  const names = new Set(listed.map((path) => basename(path)));
  // Some listen under another name first, and link it.
  const folders = new Set(listed.map(dirname));
  const isListed = (path: string): boolean => names.has(basename(path)) || folders.has(dirname(path));
  const said = await Promise.all(sockets.map(async (path) => (isListed(path) ? 'listed' : answerOf(path))));
  return sockets.filter((_path, index) => said[index] !== 'ECONNREFUSED' && said[index] !== 'ENOENT');
}

/** Who is asked may say something, and is not cut off in it. */
const heardMs = 1_000;

function answerOf(path: string): Promise<string> {
  return new Promise((resolve) => {
    const asking = connect(path, () => {
      resolve('listens');
      asking.resume().end();
      setTimeout(() => asking.destroy(), heardMs).unref();
    });
    asking.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'listens'));
  });
}

/** What lies in one of the others is as hidden as that. */
const outermost = (places: readonly string[]): string[] =>
  [...new Set(places)].filter((place) => !places.some((other) => other !== place && isBelow(place, other)));

/** Null where nobody can say what is in a folder, whose files may be reached by their names all the same. */
async function entriesOf(folder: string): Promise<Dirent[] | null> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const strange = entries.find((entry) => entry.isDirectory() && entry.name.includes('\uFFFD'));
    if (strange !== undefined) throw new Failure('SANDBOX_NOT_AVAILABLE', unnamed(join(folder, strange.name)));
    return entries;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    if (error instanceof Failure) throw error;
    return null;
  }
}

const unreadable = (folder: string): string =>
  `the project ${folder} cannot be listed, so nobody can say what in it has to be hidden; let its owner read it (chmod u+r)`;
const unnamed = (folder: string): string =>
  `the name of the folder ${folder} is not UTF-8, so what is in it cannot be hidden; give it another name`;

/** Puts what is protected in a folder where it belongs; the folders in it that have to be looked into. */
function sort(
  { root, own }: { root: string; own: readonly string[] },
  { path: folder, names }: Folder,
  entries: readonly Dirent[],
  found: Found,
): Folder[] {
  if (
    names.length > 0 &&
    (isNamedHome(folder, own) || (entries.some(({ name }) => name === HOME_ID) && isKnownHome(folder)))
  ) {
    found.homes.push(folder);
    return [];
  }
  if (names.length > 0 && holdsGit(entries)) {
    found.bare.push(folder);
    return [];
  }
  const at = names.map(plainName).indexOf(DEFINITIONS, 1);
  if (at !== -1 && holdsDefinition(folder, names, entries)) found.runLater.push(join(root, ...names.slice(0, at + 1)));
  const below: Folder[] = [];
  for (const entry of entries) {
    const path = `${folder}${sep}${entry.name}`;
    const parts = [...names, entry.name];
    if (entry.name === 'node_modules' && !entry.isFile() && isLoadedFrom(path)) found.holding.push(path);
    if (entry.isSymbolicLink()) {
      const place = isSecretPlace(parts) ? realOf(path) : path;
      if (place !== path) found.secrets.push({ place, link: path });
      if (isRepositoryName(entry.name)) found.repositories.push(...leadsTo(root, path, true));
    } else if (isRepositoryName(entry.name)) {
      found.repositories.push(path);
      if (entry.isFile()) found.repositories.push(...leadsTo(root, path, false));
    } else if (entry.isDirectory()) below.push({ path, names: parts });
    else if (entry.isSocket()) found.sockets.push(path);
    else if (isSecretFile(parts)) found.secrets.push({ place: path });
  }
  return below;
}

const definitionsLookedAt = 50;

/** Files that only lie there, such as data of tests, are no definitions. */
const holdsDefinition = (folder: string, names: readonly string[], entries: readonly Dirent[]): boolean =>
  entries
    .filter((entry) => entry.isFile() && isInnerDefinition([...names, entry.name].map(plainName)))
    .slice(0, definitionsLookedAt)
    .some(({ name }) => /(?:^|["'\s{,])steps["']?\s*:/.test(plainText(join(folder, name)) ?? ''));

/** A link may lead to a folder as well. */
const isSecretPlace = (names: readonly string[]): boolean => isSecretFile(names) || isSecretFile([...names, '.']);

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

export interface PlaceGuard {
  /** Resolves with the first place that came into being; otherwise never. */
  first: Promise<string>;
  /** Looks once more and no longer; the first place that came into being, or null. */
  end(): Promise<string | null>;
}

/** Looks whether one of the places comes into being, and gives it another name at once. */
export function guardPlaces(root: string, missing: readonly string[]): PlaceGuard {
  let found: string | null = null;
  let looking: Promise<void> = Promise.resolve();
  let tell: ((path: string) => void) | undefined;
  const first = new Promise<string>((resolve) => (tell = resolve));
  const look = (): Promise<void> => {
    looking = looking.then(async () => {
      for (const path of missing) {
        if (!(await isThere(path))) continue;
        found ??= path;
        await rename(path, `${path}.refused-${randomBytes(4).toString('hex')}`).catch(() => undefined);
      }
      if (found !== null) tell?.(found);
    });
    return looking;
  };
  const watcher = watch(root, () => void look());
  // A watch that breaks (no more of them on this host) leaves the look at the end.
  watcher.on('error', () => undefined);
  void look();
  return {
    first,
    async end() {
      watcher.close();
      await look();
      return found;
    },
  };
}
