/**
 * What a project held when it was looked at last, in memory: the next look asks the system what each file looks like,
 * reads those that look different, and starts git for names alone that nobody has seen before.
 *
 * - M1 What a state holds is what the look of git would find (project-trees.ts). Where that is not certain, because rules
 *      or repositories changed, or much did, nothing is said and git looks.
 * - M2 The rules of a `.gitignore` are git's to read.
 * - M3 The index of git is behind by what was found here; `lines` brings it up to date.
 */
import { lstatSync, readdirSync, statSync, type Dirent, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isKnownHome, HOME_ID } from '../../services/home/home-records.ts';
import { holdsGit, REPOSITORIES } from '../../world/confinement/repositories/repositories.ts';
import { CHECKPOINT_BOUNDS } from '../../world/git/trees/bounds.ts';
import { RECORD_ROOT } from '../../world/git/trees/entries.ts';
import { readAt, SYMLINK, type ReadFile } from '../../world/git/trees/files-in-place.ts';
import { isAsBefore, type KnownFolder, stampOf } from '../../world/git/trees/known-tree.ts';
import { objectName, ObjectWriter } from '../../world/git/trees/objects.ts';
import { readIndex } from '../../world/git/trees/read-index.ts';
import type { ShadowGit } from '../../world/git/trees/shadow-git.ts';
import { holdsFiles, ignoredOf, kindOf, type Named, pathsIn, type Unknown } from './known-names.ts';
import { ProjectWatch, type Dirty } from './project-watch.ts';
import { isRefusedByGit } from './refused.ts';

const RULES = '.gitignore';
const REMOVED = `0 ${'0'.repeat(40)}`;

export interface KnownOptions {
  homes: ReadonlySet<string>;
  /** Changes may be told by the system. */
  mayWatch: boolean;
}

/** Of one look. */
interface Found {
  unlike: Named[];
  unknown: Unknown[];
  seen: number;
}

/** Git has to look. */
class Unsure extends Error {}

export class KnownProject {
  readonly #git: ShadowGit;
  readonly #root: KnownFolder;
  readonly #homes: ReadonlySet<string>;
  readonly #writer: ObjectWriter;
  readonly #said = new Map<string, string>();
  readonly #large = new Map<string, string>();
  #isListed = false;
  #watch: ProjectWatch | null;
  /** When all was looked at with every folder watched; null: not yet. */
  #walkedAt: number | null = null;
  #rootInode = 0;
  /** Files with names elsewhere, by which they change without a word. */
  readonly #linked = new Map<string, Named>();
  /** What a check finds. */
  #checked: string[] | null = null;
  /** What had changed without a word of the watch. */
  hidden: readonly string[] = [];
  /** How many looks asked the watch alone. */
  told = 0;
  /** What the index of git does not say yet, by path. */
  readonly lines = new Map<string, string>();

  private constructor(
    git: ShadowGit,
    root: KnownFolder,
    { homes, watch }: { homes: ReadonlySet<string>; watch: ProjectWatch | null },
  ) {
    this.#git = git;
    this.#root = root;
    this.#homes = homes;
    this.#writer = new ObjectWriter(git.place);
    this.#watch = watch;
  }

  /** From the index, which is as a look of git has left it. `homes`: by their paths in the project. */
  static async of(git: ShadowGit, { homes, mayWatch }: KnownOptions): Promise<KnownProject | null> {
    const { quickFilesMax, watchedFilesMax, watchedFilesMin } = CHECKPOINT_BOUNDS;
    const read = await readIndex(git, mayWatch ? watchedFilesMax : quickFilesMax);
    if (read === null) return null;
    const watch = mayWatch && read.files >= watchedFilesMin ? ProjectWatch.open(git.project) : null;
    if (watch === null && read.files > quickFilesMax) return null;
    return new KnownProject(git, read.root, { homes, watch });
  }

  close(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  /** Without writing it. */
  get name(): string {
    return this.#root.tree(null) ?? '';
  }

  /** The tree of what was found, with what moved in the repository. */
  async write(moved: readonly string[]): Promise<string> {
    for (const line of moved) this.#move(line);
    const name = this.#root.tree(this.#writer) ?? '';
    await this.flush();
    return name;
  }

  /** What is said is there: the index may be told of it. */
  async flush(): Promise<void> {
    await this.#writer.flush();
    for (const [path, line] of this.#said) {
      this.lines.delete(path);
      this.lines.set(path, line);
    }
    this.#said.clear();
  }

  /** Files that are too large to keep. */
  get large(): Record<string, string> {
    const inOrder = [...this.#large].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(inOrder.slice(0, CHECKPOINT_BOUNDS.largeMax));
  }

  /** False where git has to look. */
  async look(): Promise<boolean> {
    const found: Found = { unlike: [], unknown: [], seen: 0 };
    try {
      const dirty = this.#dirty();
      if (dirty === null) await this.#walkAll(found);
      else await this.#walkDirty(dirty, found);
      await this.#learn(found);
      await this.#read(found.unlike);
      if (dirty !== null && Date.now() - (this.#walkedAt ?? 0) > CHECKPOINT_BOUNDS.checkMs) await this.#check();
    } catch (error) {
      // Whoever changes files while we look makes us stumble.
      if (error instanceof Error && error.message.startsWith('bug:')) throw error;
      return false;
    }
    this.#isListed = true;
    return this.#watch !== null || found.seen <= CHECKPOINT_BOUNDS.quickFilesMax;
  }

  /** Null: anything. */
  #dirty(): Map<KnownFolder, Dirty> | null {
    const taken = this.#watch?.take() ?? null;
    const { ino } = statSync(this.#git.project);
    const isAnother = ino !== this.#rootInode;
    this.#rootInode = ino;
    return this.#walkedAt === null || isAnother || this.#watch === null ? null : taken;
  }

  async #walkAll(found: Found): Promise<void> {
    const at = Date.now();
    this.#linked.clear();
    await this.#walk(this.#root, found);
    this.#walkedAt = this.#watch === null ? null : at;
  }

  async #walkDirty(dirty: ReadonlyMap<KnownFolder, Dirty>, found: Found): Promise<void> {
    this.told += 1;
    // What is above first: what was in a folder that is gone is gone.
    const inOrder = [...dirty].toSorted(([a], [b]) => a.path.length - b.path.length);
    for (const [folder, { names, isOfNames }] of inOrder) {
      if (!this.#isThere(folder)) continue;
      if (isOfNames) {
        folder.stamp = null;
        this.#list(folder, found);
      } else this.#checkRules(folder);
      for (const name of names) {
        if (folder.files.has(name)) this.#compare({ folder, name }, found);
        const below = isOfNames ? folder.folders.get(name) : undefined;
        if (below === undefined || below.isApart) continue;
        // Another folder may have its name by now.
        this.#watch?.drop(below);
        await this.#walk(below, found);
      }
    }
    for (const [path, one] of this.#linked) {
      if (this.#isThere(one.folder) && one.folder.files.has(one.name)) this.#compare(one, found);
      else this.#linked.delete(path);
    }
  }

  /** The watch is asked whether it has told of all. A write through memory, or by a name elsewhere, it does not see. */
  async #check(): Promise<void> {
    const found: Found = { unlike: [], unknown: [], seen: 0 };
    this.#checked = [];
    await this.#walkAll(found);
    await this.#learn(found);
    await this.#read(found.unlike);
    const late = this.#watch?.take() ?? null;
    const told = new Set([...(late ?? [])].flatMap(([{ path }, { names }]) => [...names].map((name) => path + name)));
    const isTold = (path: string): boolean =>
      told.has(path) || (path.includes('/') && isTold(path.slice(0, path.lastIndexOf('/'))));
    this.hidden = late === null ? [] : this.#checked.filter((path) => !isTold(path));
    this.#checked = null;
    this.#watch?.giveBack(late);
    if (this.hidden.length > 0) this.close();
  }

  #isThere(folder: KnownFolder): boolean {
    const { above } = folder;
    if (above === null) return folder === this.#root;
    return above.folders.get(folder.path.slice(above.path.length, -1)) === folder && this.#isThere(above);
  }

  async #walk(folder: KnownFolder, found: Found): Promise<void> {
    if (folder.isApart) return;
    this.#list(folder, found);
    for (const name of folder.files.keys()) {
      found.seen += 1;
      // The worker has other things to do as well.
      if (found.seen % CHECKPOINT_BOUNDS.filesOpen === 0) await nextTurn();
      this.#compare({ folder, name }, found);
    }
    for (const below of folder.folders.values()) await this.#walk(below, found);
  }

  #compare(one: Named, found: Found): void {
    const { folder, name } = one;
    const now = lstatSync(this.#place(folder, name), { throwIfNoEntry: false });
    if (now === undefined || !(now.isFile() || now.isSymbolicLink())) throw new Unsure();
    if (now.nlink > 1) this.#link(one);
    if (!isAsBefore(folder.files.get(name)?.stamp ?? null, now)) found.unlike.push(one);
  }

  #link(one: Named): void {
    this.#linked.set(`${one.folder.path}${one.name}`, one);
    if (this.#linked.size > CHECKPOINT_BOUNDS.linkedMax) this.close();
  }

  /** Its names, where they may be others. */
  #list(folder: KnownFolder, found: Found): void {
    const at = Date.now();
    const now = this.#statOf(folder);
    this.#watchOver(folder, now.dev);
    this.#checkRules(folder);
    if (isAsBefore(folder.stamp, now)) return;
    const entries = readdirSync(this.#place(folder, ''), { withFileTypes: true });
    this.#checkKind(folder, entries);
    const names = new Set<string>();
    for (const entry of entries) {
      const kind = kindOf(entry);
      // A name that is not UTF-8 has no place in a row or an answer.
      if (kind === null || entry.name.includes('\uFFFD')) continue;
      names.add(entry.name);
      this.#meet({ folder, name: entry.name, kind }, found);
    }
    for (const name of folder.files.keys()) if (!names.has(name)) this.#drop(folder, name);
    for (const [name, { isApart }] of folder.folders) if (!isApart && !names.has(name)) this.#drop(folder, name);
    for (const name of folder.left.keys()) if (!names.has(name)) folder.left.delete(name);
    folder.stamp = stampOf(now, at);
  }

  #watchOver(folder: KnownFolder, device: number): void {
    if (this.#watch?.add(folder, this.#place(folder, '').slice(0, -1), device) === false) this.close();
  }

  #statOf(folder: KnownFolder): Stats {
    // No slash at the end, which would lead through a link.
    const now = lstatSync(this.#place(folder, '').slice(0, -1));
    if (!now.isDirectory()) throw new Unsure();
    return now;
  }

  #meet(one: Unknown, found: Found): void {
    const { folder, name, kind } = one;
    if (folder.folders.get(name)?.isApart === true) return;
    if (kind === 'folder' ? folder.folders.has(name) : folder.files.has(name)) return;
    this.#drop(folder, name);
    if (folder.left.get(name) === kind) return;
    folder.left.delete(name);
    if (this.#isLeftOut(one)) folder.left.set(name, kind);
    else found.unknown.push(one);
  }

  #isLeftOut({ folder, name, kind }: Unknown): boolean {
    if (REPOSITORIES.includes(name) || (name === 'node_modules' && kind === 'folder')) return true;
    if (/^\.sentinel$/i.test(name) || name.startsWith('.sentinel.foreign-')) return true;
    const path = `${folder.path}${name}`;
    return this.#homes.has(path) || isRefusedByGit(path, kind === 'link' ? SYMLINK : '');
  }

  /** Rules that no state holds are read by git all the same. */
  #checkRules(folder: KnownFolder): void {
    if (!folder.left.has(RULES)) return;
    const now = lstatSync(this.#place(folder, RULES), { throwIfNoEntry: false });
    if (now === undefined || !isAsBefore(folder.rules, now)) throw new Unsure();
  }

  /** Repositories and homes are git's to tell. */
  #checkKind(folder: KnownFolder, entries: readonly Dirent[]): void {
    if (holdsGit(entries)) throw new Unsure();
    if (folder === this.#root) return;
    // One that holds nothing known has rules of its own for git; where files of it are known, it is a folder as others are.
    if (entries.length > 1 && !holdsFiles(folder) && entries.some(({ name }) => name === '.git')) throw new Unsure();
    if (entries.some(({ name }) => name === HOME_ID) && isKnownHome(this.#place(folder, ''))) throw new Unsure();
  }

  #drop(folder: KnownFolder, name: string): void {
    const file = folder.files.get(name);
    const below = folder.folders.get(name);
    if (file === undefined && below === undefined) return;
    if (name === RULES) throw new Unsure();
    if (below !== undefined) this.#watch?.drop(below);
    for (const path of below === undefined ? [`${folder.path}${name}`] : pathsIn(below)) {
      if (!this.#large.delete(path)) this.#say(path, null);
    }
    folder.files.delete(name);
    folder.folders.delete(name);
    folder.touch();
  }

  /** Names that nobody has seen: git says which are ignored, a depth of folders at a time. */
  async #learn(found: Found): Promise<void> {
    while (found.unknown.length > 0) {
      const some = found.unknown;
      if (this.#isListed && some.some(({ name }) => name === RULES)) throw new Unsure();
      if (some.length > CHECKPOINT_BOUNDS.unknownMax) throw new Unsure();
      found.unknown = [];
      const rules = some.filter(({ name }) => name === RULES);
      for (const { folder } of rules) folder.rules = stampOf(lstatSync(this.#place(folder, RULES)), Date.now());
      const ignored = await ignoredOf(this.#git, some);
      for (const one of some) {
        const { folder, name, kind } = one;
        if (ignored.has(one)) folder.left.set(name, kind);
        else if (kind === 'folder') await this.#walk(folder.folder(name), found);
        else found.unlike.push(one);
      }
    }
  }

  async #read(unlike: readonly Named[]): Promise<void> {
    if (unlike.length > CHECKPOINT_BOUNDS.unlikeMax) throw new Unsure();
    let bytes = 0;
    // Rules first: what comes after them may be ignored by now.
    const inOrder = unlike.toSorted((a, b) => Number(b.name === RULES) - Number(a.name === RULES));
    for (const [at, { folder, name }] of inOrder.entries()) {
      if (at % 20 === 19) await nextTurn();
      const found = readAt(this.#git.project, `${folder.path}${name}`);
      if (found === null) throw new Unsure();
      bytes += found.content?.length ?? 0;
      if (bytes > CHECKPOINT_BOUNDS.unlikeBytesMax) throw new Unsure();
      this.#keep(folder, name, found);
    }
  }

  #keep(folder: KnownFolder, name: string, { mode, content, stats, at }: ReadFile): void {
    const path = `${folder.path}${name}`;
    if (isRefusedByGit(path, mode)) throw new Unsure();
    const known = folder.files.get(name);
    const blob = content === null ? null : objectName('blob', content);
    if (blob === null) this.#large.set(path, `${stats.size} ${Math.round(stats.mtimeMs)}`);
    else this.#large.delete(path);
    folder.files.set(name, { mode, blob, stamp: stampOf(stats, at) });
    if (stats.nlink > 1) this.#link({ folder, name });
    if (known?.blob === blob && known.mode === mode) return;
    if (name === RULES) throw new Unsure();
    if (content !== null) this.#writer.add('blob', content);
    folder.touch();
    this.#say(path, blob === null ? null : `${mode} ${blob}`);
  }

  /** For the index: `mode name`; null where it is gone. */
  #say(path: string, entry: string | null): void {
    this.#checked?.push(path);
    this.#said.set(path, `${entry ?? REMOVED}\t${path}`);
  }

  #move(line: string): void {
    const tab = line.indexOf('\t');
    const [entry, path] = [line.slice(0, tab), line.slice(tab + 1)];
    const [mode = '', blob = ''] = entry.split(' ');
    const names = path.split('/');
    const name = names.pop() ?? '';
    let folder = this.#root;
    for (const one of names) folder = folder.folder(one);
    if (mode === '0') folder.files.delete(name);
    else folder.files.set(name, { mode, blob, stamp: null });
    folder.touch();
    this.#root.folder(RECORD_ROOT).isApart = true;
    this.#say(path, mode === '0' ? null : entry);
  }

  #place(folder: KnownFolder, name: string): string {
    return `${this.#git.project}/${folder.path}${name}`;
  }
}
