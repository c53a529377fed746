/**
 * What moves in a repository, read from its files without git: HEAD, refs, the list of stashes, and the places of
 * its work trees. A file is read again when its metadata changed.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, type Dirent } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openFolder, placeOf } from '../../confinement/beneath.ts';
import { CHECKPOINT_BOUNDS } from '../trees/bounds.ts';
import { STASH } from '../trees/entries.ts';
import { type OwnRepository, Unrecorded } from './find-own.ts';

/** The name of a commit or of a tag, or of the ref that it follows. */
export type RefValue = { object: string } | { follows: string };

export interface ReadRefs {
  head: RefValue;
  refs: Map<string, RefValue>;
  /** Names of stashed commits with their messages, the oldest first; null where there are none. */
  stashes: string | null;
  /** Where they lie, by name. */
  workTrees: Map<string, string>;
}

interface Folder {
  /** Where it is, for what is in it. */
  place: string;
  path: string;
}

interface Read {
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  readAt: number;
  text: string | null;
}

/** Whoever writes twice within so long may leave the same times. */
const tickMs = 100;

/** Of this work tree alone, and of what git is in the middle of. */
const NOT_SHARED = /^refs\/(?:bisect|worktree|rewritten)\//;

const OBJECT = /^[0-9a-f]{40}$/;
/** No system has longer ones. */
const nameMax = 4096;
const none = '0'.repeat(40);

export class RefReader {
  #files = new Map<string, Read>();
  #seen = new Map<string, Read>();
  #folders = 0;
  #packed: { text: string; refs: ReadonlyMap<string, RefValue> } = { text: '', refs: new Map() };

  /** Throws `Unrecorded`. */
  read({ gitFolder, commonFolder }: OwnRepository): ReadRefs {
    this.#seen = new Map();
    this.#folders = 0;
    const read = within(commonFolder, (common) => {
      this.#refuseStrange(common);
      const head = within(gitFolder, (own) => valueOf(this.#text(own, 'HEAD') ?? ''));
      if (head === null) throw new Unrecorded(`${gitFolder} has no HEAD that can be read`);
      const refs = new Map<string, RefValue>(this.#packedRefs(common));
      inside(common, 'refs', (folder) => this.#loose(folder, 'refs', refs));
      const stash = refs.get(STASH);
      refs.delete(STASH);
      const workTrees = inside(common, 'worktrees', (folder) => this.#workTrees(folder)) ?? new Map<string, string>();
      return { head, refs, stashes: this.#stashes(common, stash), workTrees };
    });
    this.#files = this.#seen;
    return read;
  }

  #refuseStrange(common: Folder): void {
    const why = whyNotRead(this.#text(common, 'config') ?? '');
    if (why !== null) throw new Unrecorded(why);
  }

  #packedRefs(common: Folder): ReadonlyMap<string, RefValue> {
    const text = this.#text(common, 'packed-refs') ?? '';
    if (text === this.#packed.text) return this.#packed.refs;
    const refs = new Map<string, RefValue>();
    for (const line of text.split('\n')) {
      const [object, name] = [line.slice(0, 40), line.slice(41)];
      if (OBJECT.test(object) && line[40] === ' ' && isRefName(name)) refs.set(name, { object });
      if (refs.size > CHECKPOINT_BOUNDS.refsMax) throw tooMany();
    }
    this.#packed = { text, refs };
    return refs;
  }

  #loose(folder: Folder, name: string, refs: Map<string, RefValue>): void {
    this.#folders += 1;
    if (this.#folders > CHECKPOINT_BOUNDS.refsMax) throw tooMany();
    for (const entry of entriesOf(folder)) {
      const full = `${name}/${entry.name}`;
      if (full.length > nameMax) continue;
      if (entry.isDirectory() && !NOT_SHARED.test(`${full}/`))
        inside(folder, entry.name, (below) => this.#loose(below, full, refs));
      if (!entry.isFile() || !isRefName(full)) continue;
      const value = valueOf(this.#text(folder, entry.name) ?? '');
      if (value !== null) refs.set(full, value);
      if (refs.size > CHECKPOINT_BOUNDS.refsMax) throw tooMany();
    }
  }

  /** Git keeps them as the log of one ref. */
  #stashes(common: Folder, stash: RefValue | undefined): string | null {
    if (stash === undefined || !('object' in stash)) return null;
    const log = inside(common, 'logs', (logs) => inside(logs, 'refs', (refs) => this.#text(refs, 'stash'))) ?? '';
    const lines = log.split('\n').flatMap((line) => {
      const [, object = '', message = ''] = /^[0-9a-f]{40} ([0-9a-f]{40}) [^\t]*\t?(.*)$/.exec(line) ?? [];
      return object === '' ? [] : [`${object}\t${message}\n`];
    });
    return lines.at(-1)?.startsWith(stash.object) === true ? lines.join('') : `${stash.object}\t\n`;
  }

  #workTrees(folder: Folder): Map<string, string> {
    const found = new Map<string, string>();
    for (const { name } of entriesOf(folder).filter((entry) => entry.isDirectory())) {
      if (name.startsWith('.') || name.includes('\uFFFD')) continue;
      const place = inside(folder, name, (own) => this.#text(own, 'gitdir'))?.trim() ?? '';
      if (place !== '') found.set(name, dirname(resolve(folder.path, name, place)));
      if (found.size > CHECKPOINT_BOUNDS.workTreesMax)
        throw new Unrecorded(`it has more than ${CHECKPOINT_BOUNDS.workTreesMax} work trees`);
    }
    return found;
  }

  /** Null where there is no such file, where it is none, or too large. */
  #text({ place, path }: Folder, name: string): string | null {
    const [file, key] = [`${place}/${name}`, `${path}/${name}`];
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return null;
    const known = this.#files.get(key);
    const isKnown =
      known !== undefined &&
      known.ino === found.ino &&
      known.size === found.size &&
      known.mtimeMs === found.mtimeMs &&
      known.ctimeMs === found.ctimeMs &&
      found.ctimeMs + tickMs < known.readAt;
    const { ino, size, mtimeMs, ctimeMs } = found;
    const read = isKnown ? known : { ino, size, mtimeMs, ctimeMs, readAt: Date.now(), text: textAt(file) };
    this.#seen.set(key, read);
    return read.text;
  }
}

/** From the settings of a repository, why its refs are not read here; null where they are. */
export function whyNotRead(config: string): string | null {
  if (/^[ \t]*refstorage[ \t]*=[ \t]*"?reftable/im.test(config)) return 'its refs are stored as a reftable';
  return /^[ \t]*objectformat[ \t]*=[ \t]*"?sha256/im.test(config) ? 'its objects are named by SHA-256' : null;
}

const tooMany = (): Unrecorded => new Unrecorded(`it has more than ${CHECKPOINT_BOUNDS.refsMax} refs`);

/** No name in it is a link by now, because `path` is real. */
function within<Result>(path: string, use: (folder: Folder) => Result): Result {
  const found = opened('/', path, path, (folder) => ({ result: use(folder) }));
  if (found === null) throw new Unrecorded(`${path} is no folder any more`);
  return found.result;
}

/** Null where there is no such folder. */
const inside = <Result>({ place, path }: Folder, name: string, use: (folder: Folder) => Result): Result | null =>
  opened(place, name, join(path, name), use);

function opened<Result>(root: string, below: string, path: string, use: (folder: Folder) => Result): Result | null {
  const descriptor = openFolder(root, below, { create: false });
  if (descriptor === null) return null;
  try {
    return use({ place: placeOf(descriptor, path), path });
  } finally {
    closeSync(descriptor);
  }
}

const entriesOf = ({ place }: Folder): Dirent[] => readdirSync(place, { withFileTypes: true });

function textAt(place: string): string | null {
  const descriptor = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > CHECKPOINT_BOUNDS.refFileBytesMax) return null;
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Null where git would take the ref for broken. */
function valueOf(text: string): RefValue | null {
  const object = text.slice(0, 40);
  if (OBJECT.test(object) && object !== none && /^\s*$/.test(text.slice(40))) return { object };
  const follows = /^ref:\s*(\S+)\s*$/.exec(text)?.[1];
  return follows !== undefined && isRefName(follows) ? { follows } : null;
}

/** As `git check-ref-format` takes them. */
export const isRefName = (name: string): boolean =>
  /^refs\/[^\0-\u0020\u007F~^:?*[\\]+$/.test(name) &&
  !/\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[./]$|\uFFFD/.test(name) &&
  !NOT_SHARED.test(name);
